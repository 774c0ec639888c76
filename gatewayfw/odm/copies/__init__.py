"""The rules of embedded copies, what they may fill, and the jobs that are still to bring them around."""
