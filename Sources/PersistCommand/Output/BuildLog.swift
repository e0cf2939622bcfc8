import Foundation

/// The output of `swift build`, as far as it has been read.
struct BuildLog {
  /// The part of the build that is done, from 0 to 1.
  private(set) var fraction = 0.0
  /// The last step that began.
  private(set) var step = ""
  private var rest = Data()
  private var lastLine = ""
  private var firstError: String?

  mutating func append(_ data: Data) {
    rest += data
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      read(String(decoding: rest[rest.startIndex..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces))
      rest = Data(rest[(end + 1)...])
    }
  }

  /// The first error, or else the last line.
  var reason: String { firstError ?? lastLine }

  private mutating func read(_ line: String) {
    guard !line.isEmpty else { return }
    lastLine = line
    if firstError == nil, line.contains("error: ") { firstError = line }
    // Lines of steps begin with their number, such as [12/345]. The second number grows while the build is planned.
    guard line.first == "[", let end = line.firstIndex(of: "]") else {
      // Messages about files aren't steps.
      if !line.contains(": ") { step = line }
      return
    }
    let numbers = line[line.index(after: line.startIndex)..<end].split(separator: "/").compactMap { Double($0) }
    guard numbers.count == 2, numbers[1] > 0 else { return }
    fraction = numbers[0] / numbers[1]
    step = line[line.index(after: end)...].trimmingCharacters(in: .whitespaces)
  }
}
