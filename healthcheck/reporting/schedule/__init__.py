"""Files that have a check-up come back by itself: text from a `model.schedule.Schedule`, one file a time keeper."""
