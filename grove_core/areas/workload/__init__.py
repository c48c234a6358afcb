"""Workload (WL): what a PodCliqueSet becomes. So far: how deleted objects are let go. Read specs/workload.md first."""
