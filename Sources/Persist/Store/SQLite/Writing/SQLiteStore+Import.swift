extension SQLiteStore {
  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome {
    var files = LargeValueFiles(nil)
    var isWritten = false
    do {
      let outcome = try pool.write { connection in
        var pass = try RowImportPass(store: self, connection: connection)
        defer { files = pass.files }
        do {
          while let slice = try next() { try pass.insert(slice) }
          try pass.finish()
        } catch let error as PersistenceError {
          throw pass.naming(sourceOf: error)
        }
        isWritten = true
        return pass.outcome
      }
      sweepOrphanFiles()
      return outcome
    } catch {
      // If only the end of the transaction failed, it may still have been committed: its files are then kept.
      if !isWritten { files.discardWritten() }
      throw error
    }
  }
}
