import Persist

extension StoreContents {
  /// The content of the store besides the objects of its model, in sentences.
  package func omissions() throws -> [String] {
    guard let store = store as? any InspectableStore else { return [] }
    return try store.inspect { inspector in
      var found: [String] = []
      let parked = try ParkedContent.all(in: inspector).map { "\($0.amount) of \($0.place)" }
      if !parked.isEmpty {
        found.append(
          "Parked values aren't among the objects: \(parked.joined(separator: ", ")). "
            + "'persist copy' copies them, too.")
      }
      if let served = try inspector.servedModels(), served.isServingBoth {
        found.append(
          "The store serves '\(served.first)' and '\(served.second)'; what only the latter has isn't among the "
            + "objects.")
      }
      return found
    }
  }
}
