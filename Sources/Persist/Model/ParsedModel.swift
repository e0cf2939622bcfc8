/// A model as read from a file or an archive.
package struct ParsedModel {
  let description: ModelDescription
  /// Parts that couldn't be read and were omitted, because a store is valid without them.
  let flaws: [PersistenceError]

  package init(_ description: ModelDescription, flaws: [PersistenceError] = []) {
    self.description = description
    self.flaws = flaws
  }
}
