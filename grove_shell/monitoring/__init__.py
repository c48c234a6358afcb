"""Alert rules of Prometheus and a dashboard of Grafana, made from the metrics of the operator and the webhooks."""
