package import Foundation

/// Dates as text: in UTC, with microseconds if there is a fraction of a second.
package enum DateText {
  /// For people; outside the years for which calendars agree, seconds since 2001.
  package static func text(_ date: Date) -> String {
    guard let (day, time) = parts(date) else { return "\(date.timeIntervalSinceReferenceDate) s since 2001" }
    return "\(day) \(time) UTC"
  }

  /// For programs, in ISO 8601; outside the years for which calendars agree, the number of seconds since 2001.
  package static func iso8601(_ date: Date) -> String {
    guard let (day, time) = parts(date) else { return "\(date.timeIntervalSinceReferenceDate)" }
    return "\(day)T\(time)Z"
  }

  private static func parts(_ date: Date) -> (day: Substring, time: String)? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds > -63_000_000_000, seconds < 252_000_000_000 else { return nil }
    let whole = seconds.rounded(.down)
    let words = Date(timeIntervalSinceReferenceDate: whole).formatted(
      .iso8601.dateSeparator(.dash).dateTimeSeparator(.space).timeSeparator(.colon)
    ).split(separator: " ")
    guard words.count == 2 else { return nil }
    let time = words[1].prefix { $0 != "Z" }
    let microseconds = min(999_999, Int(((seconds - whole) * 1_000_000).rounded()))
    return (words[0], seconds == whole ? String(time) : time + String(format: ".%06d", microseconds))
  }

  /// Reads a date in ISO 8601: `2026-11-23T07:25:00Z`, with a fraction of up to nine digits or without; nil for any
  /// other text, and for a date or time that doesn't exist.
  package static func date(iso8601 text: String) -> Date? {
    guard let match = text.wholeMatch(of: /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z/) else { return nil }
    let wholeText = "\(match.1)Z"
    // Foundation reads February 31 as a day in March.
    guard let whole = try? Date(wholeText, strategy: .iso8601), whole.formatted(.iso8601) == wholeText else {
      return nil
    }
    guard let digits = match.2, let fraction = Double("0.\(digits)") else { return whole }
    return Date(timeIntervalSinceReferenceDate: whole.timeIntervalSinceReferenceDate + fraction)
  }
}
