"""What every detector is: the contract, flagging, ranks with intervals, the result table, model files, the registry."""
