// <block 0>

// <block 1>
