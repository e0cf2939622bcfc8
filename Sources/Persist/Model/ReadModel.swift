/// A model as a file or an archive has it.
struct ReadModel {
  let description: ModelDescription
  /// What couldn't be read and was left out, because a store is right without it.
  let flaws: [PersistenceError]

  init(_ description: ModelDescription, flaws: [PersistenceError] = []) {
    self.description = description
    self.flaws = flaws
  }
}
