// A stand-in for the part of SwiftUI that AuthUI uses, for machines without SwiftUI: names and types alone, no screen.
//
// Compiled as a module called SwiftUI and used by Tools/check-ui, and by nothing that is built or shipped. It is written from Apple's
// documentation, for iOS 17 and macOS 14. AuthUI compiling against it shows that the module's own names, the view models' names and all
// types between them agree. It does not show that SwiftUI has what is declared here, nor how anything looks or behaves.

/// A type of its own, stricter than Apple's, which converts from Double by itself: so the screens convert in the open.
public struct CGFloat: Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  public static let infinity = CGFloat(Double.infinity)
  public init(_ value: Double) {}
  public init(integerLiteral value: Int) {}
  public init(floatLiteral value: Double) {}
}

/// A value of any type, for code that is compiled and never run.
func standIn<Value>() -> Value {
  // lint: trap because this module is compiled and never linked, let alone run
  fatalError("A stand-in holds nothing.")
}

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { return standIn() }
}

/// A view that has no body.
@MainActor @preconcurrency
public protocol StandIn: View where Body == Never {}
extension StandIn {
  public var body: Never { return standIn() }
}

public struct EmptyView: StandIn { public init() {} }
public struct Either<First: View, Second: View>: StandIn {}
public struct Both<each Content: View>: StandIn {}
extension Optional: View where Wrapped: View {
  public var body: Never { return standIn() }
}

@MainActor @resultBuilder
public enum ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Both<repeat each Content> {
    Both()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { Either() }
  public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { Either() }
}

public struct Text: StandIn {
  public init<Words: StringProtocol>(_ words: Words) {}
  public func bold() -> Text { self }
  public func font(_ font: Font?) -> Text { self }
}

public struct ProgressView: StandIn { public init() {} }
public struct Spacer: StandIn { public init(minLength: CGFloat? = nil) {} }
public struct RoundedRectangle: Shape { public init(cornerRadius: CGFloat) {} }
@MainActor @preconcurrency public protocol Shape: StandIn {}

public struct Button<Label: View>: StandIn {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}
extension Button where Label == Text {
  public init<Words: StringProtocol>(_ title: Words, action: @escaping @MainActor () -> Void) {}
}

public struct TextField<Label: View>: StandIn {}
extension TextField where Label == Text {
  public init<Words: StringProtocol>(_ title: Words, text: Binding<String>) {}
}
public struct SecureField<Label: View>: StandIn {}
extension SecureField where Label == Text {
  public init<Words: StringProtocol>(_ title: Words, text: Binding<String>) {}
}

public struct VStack<Content: View>: StandIn {
  public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct ScrollView<Content: View>: StandIn {
  public init(@ViewBuilder content: () -> Content) {}
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content>: StandIn {
  public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content)
  where Content: View {}
}
public struct NavigationStack<Data, Root: View>: StandIn {
  public init(path: Binding<Data>, @ViewBuilder root: () -> Root)
  where Data: MutableCollection & RandomAccessCollection & RangeReplaceableCollection, Data.Element: Hashable {}
}

public enum HorizontalAlignment: Sendable { case leading, center, trailing }
public enum TextAlignment: Sendable { case leading, center, trailing }
public struct Font: Sendable {
  public static let largeTitle = Font()
  public static let callout = Font()
  public static let footnote = Font()
  public static func system(size: CGFloat) -> Font { Font() }
}
public struct Color: StandIn, ShapeStyle, Sendable {
  nonisolated init() {}
  public nonisolated static let white = Color()
  public nonisolated static let blue = Color()
  public nonisolated static let red = Color()
}
public protocol ShapeStyle {}
extension ShapeStyle where Self == Color {
  public static var white: Color { Color() }
  public static var red: Color { Color() }
}
public struct SubmitLabel: Sendable {
  public static let next = SubmitLabel()
  public static let go = SubmitLabel()
}
public struct AccessibilityTraits: Sendable { public static let isHeader = AccessibilityTraits() }
public struct RoundedBorderTextFieldStyle: TextFieldStyle { public init() {} }
public protocol TextFieldStyle {}
extension TextFieldStyle where Self == RoundedBorderTextFieldStyle {
  public static var roundedBorder: RoundedBorderTextFieldStyle { RoundedBorderTextFieldStyle() }
}

@MainActor @preconcurrency
public protocol ButtonStyle {
  associatedtype Body: View
  typealias Configuration = ButtonStyleConfiguration
  @ViewBuilder func makeBody(configuration: Configuration) -> Body
}
public struct ButtonStyleConfiguration {
  public struct Label: StandIn {}
  public let label: Label
  public let isPressed: Bool
}

@MainActor @preconcurrency
public protocol PreviewProvider {
  associatedtype Previews: View
  @ViewBuilder static var previews: Previews { get }
}

@propertyWrapper
public struct Binding<Value> {
  public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {}
  public var wrappedValue: Value {
    get { standIn() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { self }
}

@propertyWrapper @dynamicMemberLookup
public struct Bindable<Value: AnyObject> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public var projectedValue: Bindable<Value> { self }
  public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding {
      standIn()
    } set: { _ in
    }
  }
}

@propertyWrapper
public struct FocusState<Value: Hashable> {
  @propertyWrapper
  public struct Binding {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Value
    public var projectedValue: Binding { self }
  }
  public init<Wrapped: Hashable>() where Value == Wrapped? {}
  public var wrappedValue: Value {
    get { standIn() }
    nonmutating set {}
  }
  public var projectedValue: Binding { standIn() }
}

public struct EnvironmentValues { public var isEnabled: Bool { true } }
@propertyWrapper
public struct Environment<Value> {
  public init(_ path: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { standIn() }
}

@MainActor
extension View {
  public func font(_ font: Font?) -> some View { self }
  public func bold(_ isActive: Bool = true) -> some View { self }
  public func foregroundStyle<Style: ShapeStyle>(_ style: Style) -> some View { self }
  public func tint(_ color: Color?) -> some View { self }
  public func frame(
    minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil
  ) -> some View { self }
  public func background<Style: ShapeStyle>(_ style: Style) -> some View { self }
  public func clipShape<Outline: Shape>(_ shape: Outline) -> some View { self }
  public func opacity(_ opacity: Double) -> some View { self }
  public func padding(_ length: CGFloat) -> some View { self }
  public func multilineTextAlignment(_ alignment: TextAlignment) -> some View { self }
  public func fixedSize(horizontal: Bool, vertical: Bool) -> some View { self }
  public func disabled(_ disabled: Bool) -> some View { self }
  public func buttonStyle<Style: ButtonStyle>(_ style: Style) -> some View { self }
  public func textFieldStyle<Style: TextFieldStyle>(_ style: Style) -> some View { self }
  public func focused<Value: Hashable>(_ binding: FocusState<Value>.Binding, equals value: Value) -> some View { self }
  public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
  public func submitLabel(_ label: SubmitLabel) -> some View { self }
  public func autocorrectionDisabled(_ disable: Bool = true) -> some View { self }
  public func onChange<Value: Equatable>(
    of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
  ) -> some View { self }
  public func task(
    priority: TaskPriority = .userInitiated, _ action: @escaping @Sendable @isolated(any) () async -> Void
  )
    -> some View
  { self }
  public func navigationDestination<Data: Hashable, Content: View>(
    for data: Data.Type, @ViewBuilder destination: @escaping (Data) -> Content
  ) -> some View { self }
  public func previewDisplayName(_ value: String?) -> some View { self }
  public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
  public func accessibilityHidden(_ hidden: Bool) -> some View { self }
  public func accessibilityLabel<Words: StringProtocol>(_ label: Words) -> some View { self }
  public func accessibilityHint<Words: StringProtocol>(_ hint: Words) -> some View { self }
}
