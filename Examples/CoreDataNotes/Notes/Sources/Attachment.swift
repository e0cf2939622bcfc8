import CoreData

@objc(Attachment)
public class Attachment: Item {
    public override func prepareForDeletion() {
        super.prepareForDeletion()
        Attachment.deleted += 1
    }

    nonisolated(unsafe) static var deleted = 0

    @objc func validateSource(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let url = value.pointee as? URL else { return }
        if url.scheme != "https" && url.scheme != "file" {
            throw NSError(domain: "NotesErrorDomain", code: 7, userInfo: [
                NSLocalizedDescriptionKey: "\(url) has no safe scheme.",
                NSValidationKeyErrorKey: #keyPath(Attachment.source),
                NSValidationObjectErrorKey: self,
            ])
        }
    }
}

@objc(NoteColor)
public final class NoteColor: NSObject {
    public let red: UInt8, green: UInt8, blue: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NoteColor else { return false }
        return (red, green, blue) == (other.red, other.green, other.blue)
    }
}

@objc(NoteColorTransformer)
final class NoteColorTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let color = value as? NoteColor else { return nil }
        return Data([color.red, color.green, color.blue])
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, data.count == 3 else { return nil }
        return NoteColor(red: data[0], green: data[1], blue: data[2])
    }

    static func register() {
        ValueTransformer.setValueTransformer(
            NoteColorTransformer(), forName: NSValueTransformerName(rawValue: "NoteColorTransformer"))
    }
}
