"""What other people's pipelines take from us, run the way they run it."""
