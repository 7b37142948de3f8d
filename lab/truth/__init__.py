"""Labels on logs that strangers published, and how right an audit of them is: `make truth`."""
