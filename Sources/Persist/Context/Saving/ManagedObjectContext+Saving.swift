import Foundation

extension ManagedObjectContext {
  /// Writes every change to the stores, with one transaction per store.
  ///
  /// New objects then have permanent identifiers. If the save fails, all changes are kept, so that they can be
  /// corrected and saved again. If the changes belong to several stores, one store is written after another: changes
  /// that a store accepted before the failure remain saved, and are announced as a save.
  ///
  /// Conflicts with rows that others changed since they were read, and with values that must be unique, are resolved by
  /// ``mergePolicy``.
  ///
  /// - Throws: ``PersistenceError/Code/saveFailed`` when called from `willSave` or validation of the same context;
  ///   validation errors, all at once; ``PersistenceError/Code/mergeConflict`` and
  ///   ``PersistenceError/Code/constraintConflict``, with every conflict, if the merge policy doesn't resolve them; the
  ///   store's errors; an error of a subclass's own validation, unchanged.
  /// - Complexity: O(*changes*), regardless of the number of registered objects.
  public func save() throws {
    guard runningSave == nil else {
      throw PersistenceError(
        .saveFailed, "save() was called on \(name.map { "the context '\($0)'" } ?? "a context") while it was saving.",
        fix: "Don't call save() in willSave, validation, merge policies or will-save notifications: changes made there "
          + "are part of the running save. didSave may call it.")
    }
    observedChanges.begin()
    defer { observedChanges.end() }
    let pass = SavePass(self)
    runningSave = pass
    defer { runningSave = nil }
    try pass.run()
  }

  /// Saves like ``save()``, but waits for other writers without blocking the context's actor.
  ///
  /// Changes made during the wait are saved too.
  ///
  /// ```swift
  /// try await container.viewContext.save(within: .seconds(2))
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The maximum wait for other writers, in this program and others, instead of
  ///     ``StoreOptions/busyTimeout``.
  ///   - isolation: The context's actor; the default is the caller's.
  /// - Throws: The errors of ``save()``; ``PersistenceError/Code/storeBusy`` if the wait took longer;
  ///   `CancellationError` if the task was canceled during the wait. Nothing is saved then, and all changes are kept.
  public func save(within limit: Duration, isolation: isolated (any Actor)? = #isolation) async throws {
    guard parent == nil, hasChanges else { return try save() }
    let stores = persistentStoreCoordinator.openStores.filter { !$0.isReadOnly }
    let busy = PersistenceError(
      .storeBusy, "Waiting for other writers exceeded the limit of \(limit).", fix: "Try again.")
    let end = ContinuousClock.now + limit
    var patience = Duration.milliseconds(50)
    while true {
      let (left, present) = (end - .now, patience)
      let wait = WaitLimit(left, orThrow: busy)
      let reservations = try await persistentStoreCoordinator.threads.background.run(within: wait) {
        var reservations: [WriteReservation] = []
        do {
          for store in stores {
            if let right = try store.reserveWriting(within: left, patience: present) { reservations.append(right) }
          }
          return reservations
        } catch {
          for reservation in reservations { reservation.end() }
          throw error
        }
      }
      defer { for reservation in reservations { reservation.end() } }
      if try WriteReservation.using(reservations, { try save() }) != nil { return }
      // Other writers reclaimed the reservation before the actor used it, perhaps because the actor was waiting for the
      // store too.
      patience *= 2
    }
  }
}
