extension MigrationPath {
  /// The maximum number of simultaneous copies of the store, excluding its own file: a hop's file and the previous one;
  /// at the end, the last one and the log or journal of the exchange.
  var simultaneousCopies: Int { 2 }

  /// Whether every object of the last version has the key of the object that it was.
  func keepsKeys(_ resources: MigrationResources) -> Bool {
    hops.allSatisfy { hop in
      guard case .mapping(let mapping) = hop.method, !hop.isInferred else { return true }
      guard let plan = try? MigrationPath.plan(hop, by: mapping, resources: resources) else { return false }
      return plan.steps.allSatisfy { $0.offset == 0 && $0.policy == nil }
    }
  }
}
