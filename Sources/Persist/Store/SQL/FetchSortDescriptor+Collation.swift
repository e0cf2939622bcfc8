extension FetchSortDescriptor.Comparison {
  /// The name of the collation that Persist registers on each connection, only for sorting in its own statements.
  package var collation: StaticString {
    switch self {
    case .values: "BINARY"
    case .caseInsensitive: "PERSIST_CASE_INSENSITIVE"
    case .localized: "PERSIST_LOCALIZED"
    case .localizedCaseInsensitive: "PERSIST_LOCALIZED_CASE_INSENSITIVE"
    case .localizedStandard: "PERSIST_LOCALIZED_STANDARD"
    }
  }
}
