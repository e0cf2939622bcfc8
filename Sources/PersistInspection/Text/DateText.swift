package import Foundation
import Persist

/// Dates as text for programs: in UTC, with microseconds if there is a fraction of a second.
///
/// ``ValueWords`` words them for people.
package enum DateText {
  /// For programs, in ISO 8601; outside the years for which calendars agree, the number of seconds since 2001.
  package static func iso8601(_ date: Date) -> String {
    DateParts(date)?.iso8601 ?? "\(date.timeIntervalSinceReferenceDate)"
  }

  /// In ISO 8601, if the text reads back to the same date; nil outside the years for which calendars agree, and for
  /// fractions of a microsecond.
  package static func exactISO8601(_ date: Date) -> String? {
    guard let parts = DateParts(date), parts.isExact else { return nil }
    let text = parts.iso8601
    // Reading takes long, and is certain to succeed after the introduction of the Gregorian calendar.
    return date.timeIntervalSinceReferenceDate > -13_000_000_000 || Self.date(iso8601: text) == date ? text : nil
  }

  /// In ISO 8601, with as many decimals as are needed to read back the same date; the number of seconds since 2001 if
  /// there are none.
  package static func exactText(_ date: Date) -> String {
    if let text = exactISO8601(date) { return text }
    let seconds = date.timeIntervalSinceReferenceDate
    let whole = seconds.rounded(.down)
    guard let text = exactISO8601(Date(timeIntervalSinceReferenceDate: whole)) else { return "\(seconds)" }
    for count in 7...9 {
      let fraction = String(format: "%.\(count)f", seconds - whole).dropFirst(2)
      let candidate = "\(text.dropLast()).\(fraction)Z"
      if self.date(iso8601: candidate) == date { return candidate }
    }
    return "\(seconds)"
  }

  /// A date without a fraction of a second; zeros stand for digits.
  private static let form = Array("0000-00-00T00:00:00".utf8)

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Reads a date in ISO 8601: `2026-11-23T07:25:00Z`, with a fraction of up to nine digits or without; nil for any
  /// other text, and for a date or time that doesn't exist.
  package static func date(iso8601 text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count > form.count, bytes.last == UInt8(ascii: "Z"),
      zip(bytes, form).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 })
    else { return nil }
    let rest = bytes[form.count..<bytes.count - 1]
    guard rest.isEmpty || rest.first == UInt8(ascii: ".") && (2...10).contains(rest.count)
      && rest.dropFirst().allSatisfy(isDigit)
    else { return nil }
    let wholeText = String(decoding: bytes.prefix(form.count), as: UTF8.self) + "Z"
    // Foundation reads February 31 as a day in March.
    guard let whole = try? Date(wholeText, strategy: .iso8601), whole.formatted(.iso8601) == wholeText else {
      return nil
    }
    guard !rest.isEmpty, let fraction = Double("0" + String(decoding: rest, as: UTF8.self)) else { return whole }
    return Date(timeIntervalSinceReferenceDate: whole.timeIntervalSinceReferenceDate + fraction)
  }
}
