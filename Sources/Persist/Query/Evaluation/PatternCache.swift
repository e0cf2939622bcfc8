/// Compiled patterns of one kind, by their texts and options.
///
/// A connection and an evaluator that serves many objects meet any number of patterns. A full cache is emptied, so that
/// patterns that aren't used any longer don't accumulate.
struct PatternCache<Compiled> {
  private struct Key: Hashable {
    let pattern: String
    let options: FetchPredicate.Options

    /// Compares bytes: Swift considers composed and decomposed letters equal.
    static func == (left: Key, right: Key) -> Bool {
      left.options == right.options && left.pattern.utf8.elementsEqual(right.pattern.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
  }

  private var compiled: [Key: Compiled] = [:]

  var limit: Int { 200 }
  var count: Int { compiled.count }

  /// Returns a compiled pattern, compiling it if it isn't in the cache.
  mutating func pattern(
    _ pattern: String, _ options: FetchPredicate.Options, orCompile compile: () throws -> Compiled
  ) rethrows -> Compiled {
    let key = Key(pattern: pattern, options: options)
    if let known = compiled[key] { return known }
    let made = try compile()
    if compiled.count >= limit { compiled = [:] }
    compiled[key] = made
    return made
  }
}
