/// Amounts in words for people.
package enum Measure {
  /// A duration with two or three digits: `0.4 ms`, `73 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`.
  package static func duration(seconds: Double) -> String {
    let seconds = max(0, seconds)
    switch seconds {
    case ..<0.001: return "\(rounded(seconds * 1000)) ms"
    case ..<0.9995: return "\(Int((seconds * 1000).rounded())) ms"
    case ..<9.95: return "\(rounded(seconds)) s"
    case ..<59.5: return "\(Int(seconds.rounded())) s"
    default: break
    }
    guard seconds < Double(Int32.max) else { return "\(Int64(min(seconds / 86_400, 1e15))) days" }
    let whole = Int(seconds.rounded())
    guard whole >= 3600 else { return parts(whole / 60, unit: "min", rest: whole % 60, smaller: "s") }
    let minutes = Int((seconds / 60).rounded())
    return parts(minutes / 60, unit: "h", rest: minutes % 60, smaller: "min")
  }

  /// A number of bytes with two or three digits: `812 bytes`, `4.2 KB`, `120 KB`, `3.4 MB`. A kilobyte is 1000 bytes.
  package static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return self.count(count, "byte") }
    var amount = Double(count)
    var unit = -1
    let units = ["KB", "MB", "GB", "TB", "PB", "EB"]
    repeat {
      amount /= 1000
      unit += 1
    } while amount >= 999.5 && unit + 1 < units.count
    return amount < 9.95 ? "\(rounded(amount)) \(units[unit])" : "\(Int(amount.rounded())) \(units[unit])"
  }

  /// A number of things, singular or plural: `1 row`, `3 rows`, `2 entities`.
  ///
  /// - Parameter noun: The noun in singular.
  package static func count(_ count: Int, _ noun: String) -> String {
    guard count != 1 else { return "1 \(noun)" }
    let isRegular = !noun.hasSuffix("y") || noun.dropLast().last.map { "aeiou".contains($0) } == true
    return "\(count) " + (isRegular ? noun + "s" : noun.dropLast() + "ies")
  }

  /// One digit after the point, unless it is zero.
  private static func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }

  private static func parts(_ first: Int, unit: String, rest: Int, smaller: String) -> String {
    rest == 0 ? "\(first) \(unit)" : "\(first) \(unit) \(rest) \(smaller)"
  }
}
