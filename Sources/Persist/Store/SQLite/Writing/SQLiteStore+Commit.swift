import Synchronization

extension SQLiteStore {
  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    guard !writes.isEmpty else { return CommitReceipt() }
    var attempt = Attempt()
    if WriteReservation.isHeld(of: pool) {
      // An attempt that fails ends the reservation, and others could write before the next one.
      attempt.freesValuesFirst = !(writes.deletes.isEmpty && writes.updates.isEmpty)
      attempt.deletesSingly = true
    }
    while true {
      do {
        return try write(writes, by: attempt)
      } catch let error as PersistenceError
        where error.code == .constraintConflict && !attempt.freesValuesFirst
          && !(writes.deletes.isEmpty && writes.updates.isEmpty)
      {
        attempt.freesValuesFirst = true
      } catch is CommitPass.UnmatchedDeletes where !attempt.deletesSingly {
        attempt.deletesSingly = true
      }
    }
  }

  /// The way to write a save: the first attempt runs as few statements as possible, and almost every save succeeds with
  /// it.
  private struct Attempt {
    /// Whether unique values are cleared before others are written. A value may move from a deleted or changed row to
    /// another one, and SQLite checks row by row.
    var freesValuesFirst = false
    /// Whether each row is deleted by a statement of its own, to identify those that others have changed.
    var deletesSingly = false
  }

  func reserveWriting(within limit: Duration, patience: Duration) throws -> WriteReservation? {
    try pool.reserveWriting(within: limit, patience: patience)
  }

  func excludingWriters<T>(_ body: () throws -> T) throws -> T {
    if WriteReservation.isHeld(of: pool) { return try body() }
    guard let right = try pool.reserveWriting(within: busyTimeout, patience: .seconds(60)) else { return try body() }
    defer { right.end() }
    if let result = try WriteReservation.using([right], body) { return result }
    throw PersistenceError(
      .storeBusy, at: .store(url), "Other parts of this program kept the store busy with writes.", fix: "Try again.")
  }

  func reserveKeys(for entities: [Entity]) throws -> [Int64] {
    var writes = RowWrites()
    writes.inserts = entities.enumerated().map { index, entity in
      RowWrites.Insert(key: .temporary(UInt64(index)), entity: entity, values: SlotValues())
    }
    return try pool.write(endingReservation: false) { connection in
      var pass = CommitPass(writes, store: self, connection: connection)
      try pass.assignKeys()
      return pass.insertedKeys
    }
  }

  func retireKeys(upTo keys: [Int: Int64]) throws {
    try pool.write { connection in
      for (root, key) in keys {
        let (entity, table) = (model.entities[root], map.tables[root])
        let sql = SQLText.greatestKey(of: table.table, entity: table.number)
        let greatest = try connection.first(sql) { $0.integer(0) } ?? 0
        try connection.execute(.setGreatestKey(max(key, greatest), entity: table.number, name: entity.name))
      }
    }
  }

  private func write(_ writes: RowWrites, by attempt: Attempt) throws -> CommitReceipt {
    var files = LargeValueFiles(nil)
    var isWritten = false
    var metadata: StoreMetadata?
    var unreadVersion: Int64?
    do {
      let receipt = try pool.writeSharing { connection in
        var pass = CommitPass(writes, store: self, connection: connection)
        defer { files = pass.files }
        pass.history = try historyWriter(by: writes.origin, connection)
        try pass.assignKeys()
        // Before the versions of any of these rows are incremented, because only their members changed.
        try pass.checkRows()
        if attempt.freesValuesFirst {
          try pass.recordDeletions()
          try pass.deleteRows(singly: attempt.deletesSingly)
          try pass.freeUniqueValues()
          try pass.updateRows(leavingFirst: true)
          try pass.insertRows()
        } else {
          try pass.insertRows()
          try pass.updateRows()
        }
        try pass.touchRows()
        try pass.linkRows()
        try pass.orderRows()
        try pass.recordChanges()
        if !attempt.freesValuesFirst {
          try pass.recordDeletions()
          try pass.deleteRows(singly: attempt.deletesSingly)
        }
        try pass.throwConflicts()
        unreadVersion = try pass.unreadVersion()
        let historyNumber = try pass.history?.finish()
        metadata = try writePendingMetadata(to: connection)
        if needsModelRecord.load(ordering: .acquiring) { try StoreMetadata(connection).record(model, in: connection) }
        try seal(connection, hasNewMetadata: metadata != nil)
        try pass.files.synchronizeFolder()
        isWritten = true
        return pass.receipt(historyNumber: historyNumber)
      }
      needsModelRecord.store(false, ordering: .releasing)
      needsSeal.store(false, ordering: .releasing)
      pendingMetadata.didWrite(metadata)
      if let watch = pool.watch,
        let row = LastWrite(writes, insertedKeys: receipt.insertedKeys, unreadVersion: unreadVersion, in: map)
      {
        watch.record(row)
      }
      discardReplaced(files)
      sweepOrphanFiles()
      return receipt
    } catch {
      // If only the end of the transaction failed, it may still have been committed: its files are then kept.
      if !isWritten { files.discardWritten() }
      throw error
    }
  }

  /// Deletes the files named by the former values of a completed commit's rows.
  ///
  /// In WAL mode a commit may be lost in a power failure, and the restored rows would name deleted files. Therefore the
  /// log is synchronized first; if that fails, the files are kept and do no harm. They are also kept as long as a
  /// context reads an earlier state of the store, and if the store continues in a copy that was made before the commit.
  func discardReplaced(_ files: LargeValueFiles) {
    guard !files.replaced.isEmpty, files.folder == externalFolder,
      (try? pool.withWriter { try $0.synchronizeLog() }) != nil
    else { return }
    pool.heldStates.whenReleased { files.discardReplaced(files.folder) }
  }
}
