import Foundation
import Persist

extension ModelRegistry {
  /// The one model of an argument that must not name several: nothing else would tell which of them is meant.
  ///
  /// - Parameter path: the argument.
  /// - Throws: ``PersistenceError/Code/modelNotFound``, naming the models that there are.
  func onlyFamily(of path: String) throws -> ModelFamily {
    guard families.count > 1 else { return families[0] }
    throw PersistenceError(
      .modelNotFound, at: .file(URL(fileURLWithPath: path)),
      "There are \(families.count) models: \(families.map(\.name).joined(separator: ", ")).",
      fix: "Name the one that is meant, or its version.")
  }
}
