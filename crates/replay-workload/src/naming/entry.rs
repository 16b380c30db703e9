use std::sync::Arc;

use super::kind::Kind;
use super::suggest::{advice, retired};
use super::{Description, NameError, Parameter, StrategyName};
use crate::sanitize::excerpt;

/// A name with its parameters, and the options that the name denotes if no parameter is given. The parameters are
/// fields of the options `T`.
pub struct Entry<T> {
    pub(super) name: String,
    words: Vec<Word>,
    /// Names of options of this entry that are printed instead of the name with parameters.
    forms: Vec<(String, T)>,
    about: String,
    source: &'static str,
    default: T,
    params: Vec<Box<dyn Param<T>>>,
    /// Pairs of alternative keys.
    alternatives: Vec<(&'static str, &'static str)>,
    check: Check<T>,
}

/// An alias of a name. The alias may set a parameter.
struct Word {
    word: &'static str,
    set: Option<(&'static str, &'static str)>,
}

/// Shorthand for the traits that options and values of parameters must implement.
pub trait Value: Clone + PartialEq + Send + Sync + 'static {}

impl<V: Clone + PartialEq + Send + Sync + 'static> Value for V {}

type Check<T> = Box<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// A parsed value of a parameter, which can be applied to options.
pub type Setting<T> = Arc<dyn Fn(&mut T) + Send + Sync>;

impl<T: Value> Entry<T> {
    /// Creates an entry for the options `default`, without parameters.
    pub fn new(name: impl Into<String>, default: T) -> Self {
        Self {
            name: name.into(),
            words: Vec::new(),
            forms: Vec::new(),
            about: String::new(),
            source: "",
            default,
            params: Vec::new(),
            alternatives: Vec::new(),
            check: Box::new(|_| Ok(())),
        }
    }

    /// Sets the description.
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Sets the source.
    pub fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// Adds aliases.
    pub fn aliases(mut self, words: &[&'static str]) -> Self {
        self.words.extend(words.iter().map(|&word| Word { word, set: None }));
        self
    }

    /// Adds aliases that set the parameter `key`. `words` lists the aliases, each with the value that it sets.
    pub fn short_for(mut self, key: &'static str, words: &[(&'static str, &'static str)]) -> Self {
        let word = |&(word, value)| Word { word, set: Some((key, value)) };
        self.words.extend(words.iter().map(word));
        self
    }

    /// Adds names of their own for options, which are printed instead of the name of the entry with parameters. A name may
    /// not be followed by parameters.
    pub fn forms(mut self, forms: impl IntoIterator<Item = (String, T)>) -> Self {
        self.forms.extend(forms);
        self
    }

    /// Adds a parameter whose value is stored in a field of the options.
    pub fn param<V: Value>(
        self,
        key: &'static str,
        kind: Kind<V>,
        about: &'static str,
        field: impl Fn(&mut T) -> &mut V + Send + Sync + 'static,
    ) -> Self {
        self.case(key, kind, about, move |options| Some(field(options)))
    }

    /// Adds a parameter whose field exists only in some options, for example in one variant of an enum `T`.
    pub fn case<V: Value>(
        self,
        key: &'static str,
        kind: Kind<V>,
        about: &'static str,
        field: impl Fn(&mut T) -> Option<&mut V> + Send + Sync + 'static,
    ) -> Self {
        let get = Arc::new(field);
        let set = get.clone();
        self.computed(
            key,
            kind,
            about,
            move |options| get(&mut options.clone()).cloned(),
            move |options, value| {
                if let Some(field) = set(options) {
                    *field = value;
                }
            },
        )
    }

    /// Adds the parameter `key` as an alternative to the parameter `of`. A name may contain only one of these two
    /// parameters, and `key` is never printed.
    pub fn alternative<V: Value>(
        mut self,
        key: &'static str,
        of: &'static str,
        kind: Kind<V>,
        about: &'static str,
        default: V,
        set: impl Fn(&mut T, V) + Send + Sync + 'static,
    ) -> Self {
        self.alternatives.push((of, key));
        self.computed(key, kind, about, move |_| Some(default.clone()), set)
    }

    /// Adds a parameter that other code reads. The parameter is listed and checked, but does not
    /// change the options.
    pub fn external<V: Value>(
        self,
        key: &'static str,
        kind: Kind<V>,
        about: &'static str,
        default: V,
    ) -> Self {
        self.computed(key, kind, about, move |_| Some(default.clone()), |_, _| {})
    }

    /// Adds a parameter that `get` reads from the options and `set` writes to the options. Setting the parameter may
    /// change the defaults of parameters declared later.
    pub fn computed<V: Value>(
        mut self,
        key: &'static str,
        kind: Kind<V>,
        about: &'static str,
        get: impl Fn(&T) -> Option<V> + Send + Sync + 'static,
        set: impl Fn(&mut T, V) + Send + Sync + 'static,
    ) -> Self {
        let (get, set) = (Box::new(get), Arc::new(set));
        self.params.push(Box::new(Typed { key, about, kind, always: false, get, set }));
        self
    }

    /// Prints the parameters declared so far even if they have the default value.
    pub fn always(mut self) -> Self {
        self.params.iter_mut().for_each(|param| param.write_always());
        self
    }

    /// Sets the function that checks whether the values of the parameters are valid together.
    pub fn check(self, check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self { check: Box::new(check), ..self }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(|word| word.word);
        std::iter::once(&self.name[..]).chain(words).chain(self.form_names())
    }

    fn form_names(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(|(form, _)| &form[..])
    }

    pub(super) fn describe(&self) -> Description {
        Description {
            name: self.name.clone(),
            aliases: self.words().skip(1).map(str::to_string).collect(),
            forms: self.form_names().map(str::to_string).collect(),
            form_parameters: self.forms.iter().map(|(_, form)| self.parameters_of(form)).collect(),
            about: self.about.clone(),
            source: self.source,
            parameters: self.params.iter().map(|param| param.describe(&self.default)).collect(),
        }
    }

    /// Returns the name with all parameters that have a value in `options`, in the order of declaration.
    fn parameters_of(&self, options: &T) -> String {
        let mut name = StrategyName::plain(&self.name);
        let values =
            self.params.iter().filter_map(|param| Some((param.key(), param.text_of(options)?)));
        name.parameters.extend(values.map(|(key, text)| (key.to_string(), text)));
        name.to_string()
    }

    /// Returns whether a parameter with this key can be given with `name`, which must be the name or an alias of this
    /// entry. A form has no parameters, and an alias that sets a parameter does not have this parameter.
    pub fn has(&self, name: &StrategyName, key: &str) -> bool {
        let is_set = self.set_by(name).is_some_and(|(set, _)| set == key);
        let is_form = self.form_names().any(|form| form == name.name);
        !is_form && !is_set && self.params.iter().any(|param| param.key() == key)
    }

    /// Returns the parameter that an alias sets, with its value.
    fn set_by(&self, name: &StrategyName) -> Option<(&'static str, &'static str)> {
        self.words.iter().find(|word| word.word == name.name).and_then(|word| word.set)
    }

    /// Parses the parameters in `name`, which must be the name or an alias of this entry, and returns the options.
    pub(super) fn read(&self, kind: &'static str, name: &StrategyName) -> Result<T, NameError> {
        let form = self.forms.iter().find(|(form, _)| *form == name.name);
        let mut options = form.map_or(&self.default, |(_, options)| options).clone();
        // Check all keys first, because the value of an unknown key cannot be checked.
        for (key, _) in &name.parameters {
            self.param_of(kind, name, key)?;
        }
        if let Some((key, value)) = self.set_by(name) {
            let plain = StrategyName::plain(&self.name);
            self.setting(kind, &plain, key, value)?(&mut options);
        }
        for &(one, other) in &self.alternatives {
            if name.get(one).is_some() && name.get(other).is_some() {
                return Err(
                    name.error(kind, format!("{one} and {other} are alternatives; give only one"))
                );
            }
        }
        for param in &self.params {
            if let Some(text) = name.get(param.key()) {
                param.read(text).map_err(|problem| name.error(kind, problem))?(&mut options);
            }
        }
        self.checked(&options).map_err(|problem| name.error(kind, problem))?;
        Ok(options)
    }

    /// Parses `text` as a value of the parameter `key`.
    pub(super) fn setting(
        &self,
        kind: &'static str,
        name: &StrategyName,
        key: &str,
        text: &str,
    ) -> Result<Setting<T>, NameError> {
        let param = self.param_of(kind, name, key)?;
        param.read(text).map_err(|problem| name.error(kind, problem))
    }

    fn param_of(
        &self,
        kind: &'static str,
        name: &StrategyName,
        key: &str,
    ) -> Result<&dyn Param<T>, NameError> {
        if self.form_names().any(|form| form == name.name) {
            return Err(no_parameter(kind, name, key, &[]));
        }
        if let Some((set, value)) = self.set_by(name).filter(|(set, _)| *set == key) {
            return Err(name.error(kind, format!("\"{}\" already sets {set}={value}", name.name)));
        }
        let keys = || self.params.iter().map(|param| param.key());
        let param = self.params.iter().find(|param| param.key() == key).map(|param| &**param);
        param.ok_or_else(|| no_parameter(kind, name, key, &keys().collect::<Vec<_>>()))
    }

    /// Checks options that were created in code instead of parsed from text. The error describes the problem.
    pub(super) fn checked(&self, options: &T) -> Result<(), String> {
        self.params.iter().try_for_each(|param| param.checked(options))?;
        self.check_combination(options)
    }

    /// Checks whether the values in `options` are valid together. The error describes the problem.
    pub(super) fn check_combination(&self, options: &T) -> Result<(), String> {
        (self.check)(options)
    }

    /// Returns the name with the parameters that describe `options`. The flag states whether parsing the returned text
    /// gives `options` again. Keys are in the order of declaration. A key is omitted if its value follows from the
    /// default and the previous keys. Returns `None` if a parameter does not apply to these options or cannot be
    /// printed.
    pub(super) fn write(&self, options: &T) -> Option<(StrategyName, bool)> {
        if let Some((form, _)) = self.forms.iter().find(|(_, form)| form == options) {
            return Some((StrategyName::plain(form), true));
        }
        let mut name = StrategyName::plain(&self.name);
        let mut printed = self.default.clone();
        for param in &self.params {
            if let Some(text) = param.print(options, &mut printed)? {
                name.parameters.push((param.key().to_string(), text));
            }
        }
        Some((name, printed == *options))
    }
}

/// A parameter of an [`Entry`], independent of the type of its value.
trait Param<T>: Send + Sync {
    fn key(&self) -> &'static str;
    fn describe(&self, default: &T) -> Parameter;
    fn read(&self, text: &str) -> Result<Setting<T>, String>;
    /// If the value in `options` differs from the value in `printed`, copies the value to `printed`
    /// and returns the text to print. Returns `Some(None)` if there is nothing to print, and `None`
    /// if the parameter does not apply or cannot be printed.
    fn print(&self, options: &T, printed: &mut T) -> Option<Option<String>>;
    /// Returns the value in `options` as text; `None` if the parameter does not apply or cannot be printed.
    fn text_of(&self, options: &T) -> Option<String>;
    fn checked(&self, options: &T) -> Result<(), String>;
    fn write_always(&mut self);
}

type Get<T, V> = dyn Fn(&T) -> Option<V> + Send + Sync;
type Set<T, V> = dyn Fn(&mut T, V) + Send + Sync;

/// Returns the error of an unknown key.
fn no_parameter(kind: &'static str, name: &StrategyName, key: &str, keys: &[&str]) -> NameError {
    let known = || match keys {
        [] => "this name has no parameters".to_string(),
        known => format!("known are {}", known.join(", ")),
    };
    let advice = match retired("parameter", key) {
        Some(instead) => instead.to_string(),
        None => advice(key, keys.iter().copied(), known),
    };
    name.error(kind, format!("unknown parameter \"{}\"; {advice}", excerpt(key)))
}

/// A parameter with a value of type `V`.
struct Typed<T, V> {
    key: &'static str,
    about: &'static str,
    kind: Kind<V>,
    always: bool,
    /// Reads the value from the options; `None` if the parameter does not apply.
    get: Box<Get<T, V>>,
    set: Arc<Set<T, V>>,
}

impl<T, V> Typed<T, V> {
    fn text(&self, options: &T) -> Option<String> {
        (self.get)(options).and_then(|value| (self.kind.write)(&value))
    }
}

impl<T: 'static, V: Value> Param<T> for Typed<T, V> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn describe(&self, default: &T) -> Parameter {
        Parameter {
            key: self.key,
            values: self.kind.values.clone(),
            default: self.text(default).unwrap_or_else(|| self.kind.absent.to_string()),
            about: self.about,
        }
    }

    fn read(&self, text: &str) -> Result<Setting<T>, String> {
        let (value, set) = ((self.kind.read)(self.key, text)?, self.set.clone());
        Ok(Arc::new(move |options: &mut T| set(options, value.clone())))
    }

    fn text_of(&self, options: &T) -> Option<String> {
        self.text(options)
    }

    fn print(&self, options: &T, printed: &mut T) -> Option<Option<String>> {
        let value = (self.get)(options)?;
        let differs = (self.get)(printed).as_ref() != Some(&value);
        if !differs && !self.always {
            return Some(None);
        }
        let text = (self.kind.write)(&value);
        if !differs {
            return Some(text);
        }
        (self.set)(printed, value);
        text.map(Some)
    }

    fn checked(&self, options: &T) -> Result<(), String> {
        match self.text(options) {
            Some(text) => (self.kind.read)(self.key, &text).map(|_| ()),
            None => Ok(()),
        }
    }

    fn write_always(&mut self) {
        self.always = true;
    }
}
