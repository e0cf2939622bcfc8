public import Persist

extension ManagedObjectContext {
  /// The results of a request, now and after each save that may change them: objects, identifiers, rows of columns or a
  /// number, as the request's result type says.
  ///
  /// ```swift
  /// let request = try FetchRequest<FetchedRow>("Order", where: "isPaid == NO")
  /// for try await rows in context.live(request) { show(rows) }
  /// ```
  ///
  /// Iterating throws what ``fetch(_:)`` does, unknown names with the first element.
  ///
  /// - Complexity: Each element costs a fetch.
  public func live<Result: FetchRequestResult>(_ request: FetchRequest<Result>) -> LiveQuery<[Result]> {
    LiveQuery(self, { try DependentEntities(of: request, in: $0) }, { try $0.fetch(request) })
  }

  /// The number of results of a request, now and whenever a save changes it.
  ///
  /// - Complexity: A count after each save of objects on which the request depends.
  public func liveCount<Result>(of request: FetchRequest<Result>) -> LiveQuery<Int> {
    LiveQuery(self, { try DependentEntities(of: request, in: $0) }, { try $0.count(for: request) })
      .removingDuplicates()
  }

  /// The values that a closure reads from objects of some entities, now and after each save of such objects.
  ///
  /// ```swift
  /// let sales = context.live(entities: ["Order", "Line"]) { context in
  ///   try context.rows(sql: "SELECT SUM(price * count) FROM \(entity: "Line")")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - names: The entities whose objects the closure reads; their subentities are included.
  ///   - read: Called in the context's isolation for each element.
  public func live<Value>(
    entities names: [String], _ read: @escaping (ManagedObjectContext) throws -> Value
  ) -> LiveQuery<Value> {
    LiveQuery(self, { try DependentEntities(named: names, in: $0) }, read)
  }
}
