// as-script
// <block 0>

/// Another program.
func changeModel(of store: URL) throws {
  // <block 1>
}
