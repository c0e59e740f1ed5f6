"""Reserve, assume, bind: the life of a reservation, and the writes with their doubts."""
