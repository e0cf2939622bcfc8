public import Foundation

extension AutomaticMigrator {
  /// Rejects a store of the coordinator's model with values that the types of the model's classes can't read, unless
  /// loss is allowed.
  public func examineStore(at url: URL, of model: ManagedObjectModel, options: StoreOptions) throws {
    try requireReadable(model, at: url, options: options)
  }

  /// - Parameters:
  ///   - url: A store of the model.
  ///   - reported: The URL for the error, if it differs.
  /// - Throws: ``PersistenceError/Code/typeMismatch`` with the numbers of rows if loss isn't allowed and the types of
  ///   the model's classes can't read all values.
  func requireReadable(
    _ model: ManagedObjectModel, at url: URL, reportedAs reported: URL? = nil, options: StoreOptions
  ) throws {
    guard !allowsLoss, let scan = UnreadableScan(model) else { return }
    let values = try scan.values(in: StoreLocation(url), options: options)
    guard !values.isEmpty else { return }
    let errors = values.map { values in
      var error = MigrationBlocker(refusing: values).error
      error.place.store = reported ?? url
      return error
    }
    throw PersistenceError.combining(
      errors, as: .typeMismatch, "The types of \(errors.count) properties can't read all stored values.")
  }
}
