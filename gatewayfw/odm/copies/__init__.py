"""The rules of embedded copies, the space they may take, and their pending jobs."""
