//! What is known of an expression without running it. The same for all languages: each has its own reader of
//! expressions, and all rules ask the same questions.

/// Stands in a text for a piece that is not known: `f"nohup {cmd}"` is `nohup` and a hole.
pub const HOLE: char = '\u{FFFC}';

use std::cell::Cell;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Number(i64),
    Bool(bool),
    /// None, null, undefined, nil, nullptr.
    Nothing,
    /// Known by its full name only: `os.setsid`, `subprocess.DETACHED_PROCESS`.
    Name(String),
    List(Vec<Value>),
    Table(Table),
    /// Several joined by `|`.
    Flags(Vec<Value>),
    /// A name with several assignments, the branches of a condition.
    OneOf(Vec<Value>),
    Unknown,
}

/// Keyword arguments and options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub entries: Vec<Entry>,
    /// Something that is not known may have added more.
    pub open: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub value: Value,
    /// Where it is written, as an offset in the file.
    pub at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    CannotTell,
}

impl Value {
    /// Can it be true in the sense of Python and JavaScript?
    pub fn truth(&self) -> Answer {
        match self {
            Value::Bool(value) => yes_if(*value),
            Value::Number(value) => yes_if(*value != 0),
            Value::Nothing => Answer::No,
            Value::Text(text) => yes_if(!text.is_empty()),
            Value::List(items) => yes_if(!items.is_empty()),
            Value::Table(_) => Answer::Yes,
            Value::OneOf(values) => any(values.iter().map(Value::truth)),
            Value::Name(_) | Value::Flags(_) | Value::Unknown => Answer::CannotTell,
        }
    }

    /// Is it given at all, where None means that it is not? `process_group=0` is.
    pub fn given(&self) -> Answer {
        match self {
            Value::Nothing => Answer::No,
            Value::OneOf(values) => any(values.iter().map(Value::given)),
            Value::Unknown | Value::Name(_) => Answer::CannotTell,
            _ => Answer::Yes,
        }
    }

    /// Does it hold one of these flags? By name, whatever the name stands in, or by its bits.
    pub fn flags(&self, names: &[&str], bits: i64) -> Answer {
        match self {
            Value::Nothing => Answer::No,
            Value::Number(number) => yes_if(number & bits != 0),
            Value::Name(name) => yes_if(names.contains(&last(name))),
            Value::Flags(values) | Value::OneOf(values) => any(values.iter().map(|value| value.flags(names, bits))),
            _ => Answer::CannotTell,
        }
    }

    /// The one text it is, holes and all.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// All the texts and lists it can be.
    pub fn alternatives(&self) -> Vec<&Value> {
        match self {
            Value::OneOf(values) => values.iter().flat_map(Value::alternatives).collect(),
            value => vec![value],
        }
    }

    /// The words of an argument list, with a hole for each that is not known.
    pub fn words(&self) -> Vec<String> {
        match self {
            Value::List(items) => items.iter().map(Value::word).collect(),
            _ => Vec::new(),
        }
    }

    pub fn word(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            // A condition in an argument list: the first that is known decides.
            Value::OneOf(values) => {
                values.iter().map(Value::word).find(|word| !word.contains(HOLE)).unwrap_or(HOLE.to_string())
            }
            _ => HOLE.to_string(),
        }
    }

    /// One value of several that a name may have.
    pub fn one_of(mut values: Vec<Value>) -> Value {
        match values.len() {
            0 => Value::Unknown,
            1 => values.remove(0),
            _ => Value::OneOf(values),
        }
    }

    /// `a + b` of texts and lists; where one of them can be several, the sum can.
    pub fn plus(self, other: Value) -> Value {
        const MOST: usize = 16;
        match (self, other) {
            (Value::OneOf(left), right) if left.len() <= MOST && !matches!(right, Value::OneOf(_)) => {
                Value::one_of(left.into_iter().map(|left| left.plus(right.clone())).collect())
            }
            (left, Value::OneOf(right)) if right.len() <= MOST && !matches!(left, Value::OneOf(_)) => {
                Value::one_of(right.into_iter().map(|right| left.clone().plus(right)).collect())
            }
            (Value::List(mut left), Value::List(right)) => {
                left.extend(right);
                Value::List(left)
            }
            (Value::List(mut left), Value::Unknown) => {
                left.push(Value::Unknown);
                Value::List(left)
            }
            (left @ (Value::Text(_) | Value::Unknown), right @ (Value::Text(_) | Value::Unknown))
                if left != Value::Unknown || right != Value::Unknown =>
            {
                Value::Text(left.word() + &right.word())
            }
            _ => Value::Unknown,
        }
    }

    /// `a | b`.
    pub fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Number(left), Value::Number(right)) => Value::Number(left | right),
            (left, right) => Value::Flags(vec![left, right]),
        }
    }
}

/// How much may be read to know one value. Names that are made of names that are made of names grow without bounds;
/// what is not known by then is not known.
#[derive(Debug, Default)]
pub struct Budget(Cell<u32>);

impl Budget {
    const STEPS: u32 = 2000;

    /// A new question.
    pub fn renew(&self) {
        self.0.set(Self::STEPS);
    }

    /// One step of its answer. False: it has cost too much.
    pub fn spend(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// The last part of a dotted or colon-separated name.
pub fn last(name: &str) -> &str {
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

fn yes_if(condition: bool) -> Answer {
    if condition { Answer::Yes } else { Answer::No }
}

/// One yes is a yes; without one, one that cannot be known decides.
pub fn any(answers: impl Iterator<Item = Answer>) -> Answer {
    let mut so_far = Answer::No;
    for answer in answers {
        match answer {
            Answer::Yes => return Answer::Yes,
            Answer::CannotTell => so_far = Answer::CannotTell,
            Answer::No => {}
        }
    }
    so_far
}
