extension SchemaChange {
  /// The statements of the change as they are shown, for a store with names of these rules.
  func shownStatements(_ names: LayoutNames) -> [String] {
    switch names {
    case .coreData: SQLText.statements(self).map(\.text)
    // The types of columns and the indexes of a table that is rewritten are only known in the store.
    case .snakeCase: ServerText.statements(self, kinds: { _ in [:] }, indexes: { _ in [] }).map(\.shown)
    }
  }
}
