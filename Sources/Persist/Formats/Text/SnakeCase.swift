extension String {
  /// The name of an entity or a property in snake case, as names in databases are written.
  ///
  /// | name | in snake case |
  /// |---|---|
  /// | `firstName`, `FirstName`, `first_name` | `first_name` |
  /// | `URLString`, `imageURL`, `imageURLs` | `url_string`, `image_url`, `image_urls` |
  /// | `iso8601Date`, `v2URL` | `iso8601_date`, `v2_url` |
  /// | `is3D`, `x1Y2`, `address2` | `is3d`, `x1y2`, `address2` |
  ///
  /// A capital letter begins a word if a small letter precedes it, or if a small letter follows it. Capital letters in
  /// a row are one word, apart from the last one if it begins another; an `s` after them is their plural. Digits belong
  /// to the word before them, and so does a single capital letter after them.
  var snakeCase: String {
    let letters = Array(self)
    var result = ""
    for index in letters.indices {
      if index > 0, letters.beginsWord(at: index) { result += "_" }
      result += letters[index].lowercased()
    }
    return result
  }
}

extension [Character] {
  fileprivate func beginsWord(at index: Int) -> Bool {
    guard self[index].isUppercase, self[index - 1] != "_" else { return false }
    if self[index - 1].isLowercase { return true }
    let end = self[index...].firstIndex { !$0.isUppercase } ?? endIndex
    // The last capital letter belongs to the next word if small letters follow that aren't a plural's.
    let isFollowed = end < endIndex && self[end].isLowercase && !(end - index > 1 && isPlural(at: end))
    if self[index - 1].isUppercase { return isFollowed && end - index == 1 && !isPlural(at: end) }
    guard self[index - 1].isNumber else { return true }
    return isFollowed && end - index == 1 || end - index > (isFollowed ? 2 : 1)
  }

  /// Whether an `s` ends a word here.
  private func isPlural(at index: Int) -> Bool {
    guard index < endIndex, self[index] == "s" else { return false }
    return index + 1 == endIndex || !self[index + 1].isLowercase
  }
}
