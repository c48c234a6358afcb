"""The simulated components beside the operator: scheduler, kubelets, node controller, driver, users."""
