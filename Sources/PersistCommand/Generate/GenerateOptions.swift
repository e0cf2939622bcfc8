/// How classes are generated.
struct GenerateOptions {
  enum Access: String, CaseIterable { case `public`, `internal` }

  var access = Access.public
  /// The module that the classes are compiled in; those that the model places in another one are imported from there.
  var module: String?
  /// Whether entities whose classes are written by hand, Xcode's Codegen "Manual/None", are left out.
  var skipsManual = false
  /// The name, without its ending, of the one file that holds everything; nil for a file for each entity.
  var singleFile: String?
}
