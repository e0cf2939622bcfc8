/// Options for generating classes.
struct GenerateOptions {
  enum Access: String, CaseIterable { case `public`, `internal` }

  var access = Access.public
  /// The module that the classes are compiled in; classes that the model places in another module are imported from
  /// there.
  var module: String?
  /// Whether to skip entities whose classes are handwritten, Xcode's Codegen "Manual/None".
  var skipsManual = false
  /// The name, without suffix, of the single file for all classes; nil for one file per entity.
  var singleFile: String?
}
