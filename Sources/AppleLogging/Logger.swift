#if !canImport(os)
  public import Foundation
  import Logging

  /// The importance of a message.
  public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// The number of the level.
    public let rawValue: UInt8

    /// Creates a level from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Creates a level from its number.
    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages that matter to everybody.
    public static let `default` = Self(rawValue: 0)
    /// Messages that help with a failure.
    public static let info = Self(rawValue: 1)
    /// Messages for debugging.
    public static let debug = Self(rawValue: 2)
    /// Failures.
    public static let error = Self(rawValue: 16)
    /// Failures that are faults of the program.
    public static let fault = Self(rawValue: 17)

    fileprivate var level: Logging.Logger.Level {
      switch self {
      case .debug: .debug
      case .info: .info
      case .error: .error
      case .fault: .critical
      default: .notice
      }
    }
  }

  // Unchecked: immutable.
  /// A destination of messages.
  open class OSLog: NSObject, @unchecked Sendable {
    fileprivate let logger: Logging.Logger?

    /// Writes to swift-log under the subsystem's and the category's name.
    public init(subsystem: String, category: String) {
      logger = Logging.Logger(label: "\(subsystem).\(category)")
    }

    /// Writes to swift-log under the subsystem's and the category's name.
    public convenience init(subsystem: String, category: Category) {
      self.init(subsystem: subsystem, category: category.rawValue)
    }

    private init(_ logger: Logging.Logger?) { self.logger = logger }

    /// The destination without a subsystem.
    public static let `default` = OSLog(Logging.Logger(label: "default"))
    /// Nowhere.
    public static let disabled = OSLog(nil)

    /// Categories with a meaning of their own on Apple's platforms.
    public struct Category: Sendable {
      fileprivate let rawValue: String

      /// Points of interest.
      public static let pointsOfInterest = Self(rawValue: "PointsOfInterest")
      /// Tracing that is on only while a tool asks for it.
      public static let dynamicTracing = Self(rawValue: "DynamicTracing")
      /// The same with call stacks.
      public static let dynamicStackTracing = Self(rawValue: "DynamicStackTracing")
    }

    /// Whether messages of a level are written.
    open func isEnabled(type: OSLogType) -> Bool { logger.map { $0.logLevel <= type.level } ?? false }

    final func write(_ type: OSLogType, _ text: @autoclosure () -> String) {
      logger?.log(level: type.level, "\(text())")
    }
  }

  /// A destination of messages: swift-log, under the subsystem's and the category's name.
  public struct Logger: Sendable {
    private let log: OSLog

    /// Writes without a subsystem.
    public init() { log = .default }
    /// Writes to a destination.
    public init(_ log: OSLog) { self.log = log }
    /// Writes under a subsystem's and a category's name.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Writes a message.
    public func log(_ message: OSLogMessage) { log.write(.default, message.description) }
    /// Writes a message of a level.
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.description) }
    /// Writes a message for debugging.
    public func trace(_ message: OSLogMessage) { log.write(.debug, message.description) }
    /// Writes a message for debugging.
    public func debug(_ message: OSLogMessage) { log.write(.debug, message.description) }
    /// Writes a message that helps with a failure.
    public func info(_ message: OSLogMessage) { log.write(.info, message.description) }
    /// Writes a message that matters to everybody.
    public func notice(_ message: OSLogMessage) { log.write(.default, message.description) }
    /// Writes a failure.
    public func warning(_ message: OSLogMessage) { log.write(.error, message.description) }
    /// Writes a failure.
    public func error(_ message: OSLogMessage) { log.write(.error, message.description) }
    /// Writes a fault of the program.
    public func critical(_ message: OSLogMessage) { log.write(.fault, message.description) }
    /// Writes a fault of the program.
    public func fault(_ message: OSLogMessage) { log.write(.fault, message.description) }
  }

  /// Writes a message with placeholders such as `%{public}@` and `%d`.
  public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default,
    _ arguments: any CVarArg...
  ) {
    log.write(type, formatted(message, arguments))
  }

  /// Writes a message with placeholders such as `%{public}@` and `%d`.
  public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString,
    _ arguments: any CVarArg...
  ) {
    log.write(type, formatted(message, arguments))
  }

  /// Writes a message with values.
  public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
    log.write(type, message.description)
  }

  private func formatted(_ message: StaticString, _ arguments: [any CVarArg]) -> String {
    // The parts in braces say who may see a value.
    let format = "\(message)".replacing(/%\{[^}]*\}/, with: "%")
    return arguments.isEmpty ? format : String(format: format, arguments: arguments)
  }
#endif
