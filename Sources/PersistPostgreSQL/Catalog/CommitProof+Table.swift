import Persist

extension ServerPool {
  /// Creates the table of proofs in a store that has none yet. A server that accepts no writes needs none.
  func makeProofTable(ifMissingIn schema: StoreSchema) throws {
    guard !options.isReadOnly, schema.table(named: ServerText.proofTable) == nil else { return }
    do {
      try write { transaction in
        try transaction.run([ServerText.lock(address.schema)])
        // Another program may have done this first.
        guard try StoreSchema(transaction.session).table(named: ServerText.proofTable) == nil else { return }
        try transaction.run([ServerText.createProofTable])
      }
    } catch let error as PersistenceError where error.code == .storeReadOnly {}
  }
}

extension ServerSession {
  /// Copies the proofs to a copy that takes the store's place: somebody may ask for an outcome at this moment.
  func keepProofs(in copy: String) throws {
    let tables = try StoreSchema(self).table(named: ServerText.proofTable) != nil
      && StoreSchema(session(for: copy)).table(named: ServerText.proofTable) != nil
    guard tables else { return }
    try run([
      """
      INSERT INTO \(schemaNamed: copy).\(name: ServerText.proofTable) SELECT * FROM \(table: ServerText.proofTable) \
      ON CONFLICT DO NOTHING
      """
    ])
  }
}

extension ServerSession {
  /// Writes a proof in the running transaction.
  ///
  /// - Returns: The proof; the number if the store has no table of proofs.
  func evidence(_ proof: CommitProof, or number: TransactionNumber) throws -> ServerOutcome.Evidence {
    guard try StoreSchema(self).table(named: ServerText.proofTable) != nil else { return .number(number) }
    try run(proof.statements())
    return .proof(proof)
  }
}
