"""The logs of producers: their settings, the requests that failed, and the outage behind them."""
