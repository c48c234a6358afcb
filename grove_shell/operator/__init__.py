"""The operator process: reconcile loop, leader election, Events, metrics, log."""
