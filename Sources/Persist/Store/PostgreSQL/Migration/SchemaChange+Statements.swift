extension SchemaChange {
  /// The statements of the change as they are shown, for a store with names of these rules.
  func shownStatements(_ names: LayoutNames) -> [String] {
    switch names {
    case .coreData: SQLText.statements(self).map(\.text)
    // The types of the columns whose values are computed are only known in the store.
    case .snakeCase: ServerText.statements(self, kinds: { _ in [:] }).map(\.shown)
    }
  }
}
