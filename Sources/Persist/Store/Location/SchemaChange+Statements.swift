extension SchemaChange {
  /// The statements of the change as they are shown, for a store with names of these rules.
  package func shownStatements(_ names: LayoutNames) -> [String] {
    switch names {
    case .coreData: SQLiteEngine().shownStatements(of: self)
    // Only the engine of servers reads stores with such names.
    case .snakeCase: ServerEngines.registeredEngine?.shownStatements(of: self) ?? []
    }
  }
}
