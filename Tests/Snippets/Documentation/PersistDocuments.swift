// <block 0>

// <block 1>

// <block 2>
