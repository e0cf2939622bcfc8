#if canImport(PersistPostgreSQL) && os(Linux)
  import Foundation
  import Persist
  import PersistPostgreSQL
  import Synchronization
  public import Testing

  /// A server in a network namespace of its own, behind a network whose packets can be made to vanish.
  ///
  /// - SeeAlso: <https://man7.org/linux/man-pages/man8/ip-netns.8.html>
  public final class QuietNetwork: Sendable {
    /// The ways in which packets vanish.
    public enum Silence: Sendable, CaseIterable {
      /// The server receives everything, and its replies vanish.
      case replies
      /// The program's packets vanish.
      case requests
      /// The cable is cut.
      case link
    }

    private let namespace: String
    private let devices: (near: String, far: String)
    private let addresses: (near: String, far: String)
    private let server: RunningServer
    private static let next = Atomic(0)

    /// The URL of a database.
    public var url: String { server.url }

    /// The reason why there can't be one; nil if there can.
    public static let obstacle: String? = {
      guard geteuid() == 0 else { return "Only root can create network namespaces." }
      guard let ip else { return "There is no program ip here; on Debian, 'apt-get install iproute2' installs it." }
      let name = "persist-\(getpid())"
      guard run(ip, ["netns", "add", name]) else { return "The system creates no network namespaces." }
      run(ip, ["netns", "del", name])
      return nil
    }()

    private static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }

    public init() throws {
      let number = Self.next.add(1, ordering: .relaxed).newValue
      let process = Int(getpid())
      namespace = "persist-\(process)-\(number)"
      devices = ("pq\(process % 1_000_000)a\(number)", "pq\(process % 1_000_000)b\(number)")
      // A range for measurements of networks, which nobody else uses.
      let prefix = "198.18.\((process + number) % 250)."
      addresses = (prefix + "1", prefix + "2")
      let inside = ["netns", "exec", namespace]
      do {
        let ip = try Self.ip.orThrow()
        for arguments in [
          ["netns", "add", namespace],
          ["link", "add", devices.near, "type", "veth", "peer", "name", devices.far],
          ["link", "set", devices.far, "netns", namespace],
          ["addr", "add", "\(addresses.near)/24", "dev", devices.near], ["link", "set", devices.near, "up"],
          inside + ["ip", "addr", "add", "\(addresses.far)/24", "dev", devices.far],
          inside + ["ip", "link", "set", devices.far, "up"], inside + ["ip", "link", "set", "lo", "up"],
        ] {
          guard Self.run(ip, arguments) else {
            throw TestServer.Unavailable(reason: "ip \(arguments.joined(separator: " "))")
          }
        }
        server = try RunningServer.start(["--at", addresses.far], by: [ip] + inside).get()
      } catch {
        Self.remove(namespace, devices.near)
        throw error
      }
      _ = try StoreLocation.postgreSQL(server.url)
    }

    /// Stops the server and removes the network.
    public func close() {
      server.stop()
      Self.remove(namespace, devices.near)
    }

    private static func remove(_ namespace: String, _ device: String) {
      guard let ip else { return }
      run(ip, ["link", "del", device])
      run(ip, ["netns", "del", namespace])
    }

    /// Makes packets vanish, until the network is restored.
    public func silence(_ silence: Silence) { set(silence, "add", "down") }

    /// Lets packets pass again.
    public func restore(_ silence: Silence) { set(silence, "del", "up") }

    private func set(_ silence: Silence, _ route: String, _ link: String) {
      guard let ip = Self.ip else { return }
      let inside = ["netns", "exec", namespace, ip]
      switch silence {
      case .replies: Self.run(ip, inside + ["route", route, "blackhole", "\(addresses.near)/32"])
      case .requests: Self.run(ip, ["route", route, "blackhole", "\(addresses.far)/32"])
      case .link: Self.run(ip, inside + ["link", "set", devices.far, link])
      }
    }

    /// - Returns: Whether the program succeeded.
    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) -> Bool {
      let process = TestRun.newProcess()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.standardError = FileHandle.nullDevice
      do { try process.run() } catch { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }

  extension Optional {
    fileprivate func orThrow() throws -> Wrapped {
      guard let self else { throw TestServer.Unavailable(reason: "There is no program ip here.") }
      return self
    }
  }

  extension Trait where Self == ConditionTrait {
    /// Runs a test only if networks can be made in which packets vanish.
    public static var needsQuietNetwork: Self {
      let reason = QuietNetwork.obstacle ?? ""
      return .enabled(if: reason.isEmpty, "Needs a network namespace: \(reason)")
    }
  }
#endif
