import Foundation
import Persist

extension ModelRegistry {
  /// Returns the location of models that a command-line argument names.
  static func url(of path: String) throws -> URL { try StoreArgument.file(path, "A model").standardizedFileURL }

  /// Returns the models at a path, for reading stores: a store's own version may not be the current one.
  ///
  /// - Parameter path: the command-line argument.
  static func forStores(at path: String) throws -> ModelRegistry {
    try ModelRegistry(contentsOf: url(of: path), needsCurrent: false)
  }

  /// The only model at a path that must not contain several, because nothing else would identify the one meant.
  ///
  /// - Parameter path: the command-line argument.
  /// - Throws: `PersistenceError.Code.modelNotFound`, which names the models found; the errors of models that can't be
  ///   read.
  func onlyFamily(of path: String) throws -> ModelFamily {
    do {
      return try onlyFamily
    } catch var error as PersistenceError where error.place.file == nil {
      error.place.file = URL(fileURLWithPath: path)
      throw error
    }
  }
}
