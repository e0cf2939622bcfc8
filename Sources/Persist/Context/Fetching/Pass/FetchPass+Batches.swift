extension FetchPass {
  /// Passes the results to a closure in groups.
  func forEachBatch(size: Int, _ body: ([ManagedObject]) throws -> Void) throws {
    var walk = FetchWalk(self, size: size, ids: FetchWalk.isByKey(self) ? nil : try identifiers())
    while let question = walk.question() {
      let objects = try walk.objects(of: question.rows(monitor: nil), from: question)
      if !objects.isEmpty { try body(objects) }
    }
    for objects in walk.unsaved { try body(objects) }
  }
}
