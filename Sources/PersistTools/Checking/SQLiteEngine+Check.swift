package import Persist

extension SQLiteEngine: CheckingEngine {
  package func checkStore(
    at location: StoreLocation, registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void
  ) throws {
    try StoreCheck.check(storeAt: file(location), registry: registry, report)
  }
}
