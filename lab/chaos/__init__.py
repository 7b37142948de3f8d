"""Kills, full disks, lakes that vanish, broken lines and hostile names: what is left, and whether a retry mends it."""
