/// Checking a store's history.
extension CheckStep {
  /// - Parameter others: The entity numbers of a second model that the store serves.
  package static func historySteps(_ layout: HistoryLayout, _ map: TableMap, others: [Int] = []) -> [CheckStep] {
    let numbers = map.model.entities.map { map.numbers[$0] } + others
    let change = HistoryLayout.entityNames[HistoryLayout.EntityNumber.change] ?? ""
    let transaction = HistoryLayout.entityNames[HistoryLayout.EntityNumber.transaction] ?? ""
    var steps = [
      CheckStep(
        kind: .danglingHistory, entity: change, property: nil, sql: .changesWithoutTransaction,
        detail: { number, _ in "The change belongs to transaction \(number.words), which doesn't exist." }),
      CheckStep(
        kind: .danglingHistory, entity: change, property: nil, sql: .changesOfUnknownEntities(numbers),
        detail: { number, key in
          "The change is one of row \(key.words) of an entity with the number \(number.words), which doesn't exist."
        }),
    ]
    for text in HistoryLayout.Text.allCases where layout.texts[text]?.hasReference == true {
      steps.append(
        CheckStep(
          kind: .danglingHistory, entity: transaction, property: nil, sql: .transactionsWithoutText(text.reference),
          detail: { key, _ in "The transaction's '\(text.property)' is text \(key.words), which doesn't exist." }))
    }
    if layout.hasOldValues { steps += oldValueSteps(change, numbers) }
    return steps + layout.counters.map { keyCounterStep($0.name, table: $0.table, number: $0.number) }
  }
}

extension CheckStep {
  private static func oldValueSteps(_ change: String, _ numbers: [Int]) -> [CheckStep] {
    SharedSQL.oldValuesWithoutTransaction.map { sql in
      CheckStep(
        kind: .danglingHistory, entity: change, property: nil, sql: sql,
        detail: { number, count in
          "\(count.words) old values belong to transaction \(number.words), which doesn't exist."
        })
    } + [
      CheckStep(
        kind: .danglingHistory, entity: change, property: nil, sql: .oldValuesOfUnknownEntities(numbers),
        detail: { number, key in
          "Old values are of row \(key.words) of an entity with the number \(number.words), which doesn't exist."
        })
    ]
  }
}

extension HistoryLayout {
  /// The entities of the history that the store has, for the checks of their key counters.
  package var counters: [(number: Int, name: String, table: String)] {
    let tables = [
      (EntityNumber.change, Self.changeTable), (EntityNumber.transaction, Self.transactionTable),
    ] + (texts.values.contains { $0.hasReference } ? [(EntityNumber.text, Self.textTable)] : [])
    return tables.compactMap { number, table in Self.entityNames[number].map { (number, $0, table) } }
  }
}
