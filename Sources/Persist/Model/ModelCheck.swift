/// The rules that a model must keep.
enum ModelCheck {
  /// Every problem of a description, each with its place and its mend; empty for a good model.
  static func problems(in description: ModelDescription) -> [PersistError] {
    []
  }
}
