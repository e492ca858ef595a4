"""The running job."""
