"""The rules of embedded copies, what they may fill, and their pending jobs."""
