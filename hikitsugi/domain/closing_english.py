"""English phrases that say that all is well, as patterns; `|` is the end of a clause."""

_IT = (
    r"(?:it|this|that|everything|both|all|(?:the|your|this) (?:(?:new|latest) )?"
    r"(?:fix(?:es)?|changes?|patch|result|pr|mr|code|feature|version|update|solution|build|output|page|docs?))"
)
_THEY = r"(?:the|these|all(?: the)?|your) (?:changes|fixes|docs|tests|results|numbers|totals)"
_LOOK = rf"(?:{_IT}(?: is|s| looks| seems)(?: all)?|{_THEY} (?:are|look)(?: all)?|looks?|all|were|we are|im|i am)"
_VERY = r"(?:all |very |really |super |pretty |so |absolutely |simply )?"
_OBJECT = (
    r"(?: (?:#?[0-9]+|in|(?:in)?to (?:main|master|develop|trunk|prod|production)|this(?! (?:morning|afternoon|evening))"
    r"|it|the|one|issue|ticket|task|pr|mr|pull request|merge request|branch|fix|change|now|out))*"
)
_HERE = (
    r"(?: (?:now|here|again|well|great|fine|perfectly|nicely|flawlessly|correctly|beautifully|smoothly|properly"
    r"|(?:for|from|to) (?:me|us)|on (?:my|our) (?:side|end)))*"
)
_LATELY = r"(?: (?:today|yesterday|just now|this (?:morning|afternoon|evening)))?"
"""Fits only deeds that stay done: what worked yesterday may be broken today."""

_AS_IT_SHOULD = r"(?:exactly )?as (?:expected|intended|described|requested|it should|it is|they are)|like a charm"
_WITH_US = r"on (?:my|our) (?:machine|side|end)|(?:in|on) (?:prod|production)"
_SOMEWHERE = (
    r"locally|(?:in|on) (?:staging|(?:macos|mac|linux|windows)(?: and (?:macos|mac|linux|windows|prod|production))?)"
)
"""Fits only tests: what works on Linux may be broken elsewhere."""

_WELL = rf"(?: (?:{_AS_IT_SHOULD}|{_WITH_US}))?"
_WE_HAVE = r"(?:(?:i|we|ive|weve|i have|we have) )?(?:just )?"
_TROUBLE = r"(?:(?:the|this|my|our|that) )?(?:issue|problem|bug|error|crash|warning|failure)s?"
_END = r"(?= ?(?:\||$))"
"""A clause ends here; "nothing else" means the contrary where "works" follows."""

_HELP = (
    r"all|the|your|you|this|that|it|everything|and|on|with|here|quick|fast|prompt|speedy|swift|great|good"
    r"|nice|hard|kind|super|very|detailed|clear|thorough|excellent|amazing|awesome|wonderful|careful|clean|fix|fixes"
    r"|help|work|job|updates?|changes?|patch|pr|mr|explanation|clarification|response|reply|answer|support"
    r"|assistance|info|information|details|summary|review|feedback|solution|issue|implementation"
    r"|contribution|efforts?|heads up|time|patience|turnaround|ticket|fixing|updating|helping|handling"
    r"|explaining|clarifying|implementing|solving|resolving|doing|looking into|taking care of"
    r"|sorting(?: (?:this|it))? out"
    r"|getting (?:this|it) done|(?:so |very |that |this |really )?(?:quickly|fast|promptly)"
    r"|turning (?:this|it) around|out"
)
_FINE = (
    r"great|perfect|nice|awesome|excellent|fantastic|wonderful|cool|amazing|brilliant|super|neat|outstanding|terrific"
    r"|beautiful|superb|lovely|good|flawless|gorgeous|impressive|spot on|perfection|top notch|solid"
    r"|helpful|fixed|solved|resolved|merged|verified|confirmed|sorted|good to go"
    r"|exactly (?:what|as) (?:i|we) (?:wanted|needed|expected|asked for|had in mind)"
)
_THANKFUL = (
    r"(?:so|very|ever so|so very|very very) much|a (?:lot|million|bunch|ton|mil)|again|all"
    r"|everyone|everybody|guys|folks|team|sir|mate|man"
    r"|buddy|friend|dude|bro|boss|there|bot|indeed|kindly|heaps|loads|tons|once again|really"
)
_ALL_OF_YOU = r"so much|a lot|everyone|everybody|guys|folks|team|as always"
_DEED = r"(?:merg|clos|deploy|releas|shipp|appli|accept|approv)ed"
_LEAVE = (
    (
        r"(?:(?:best|kind|warm|many|and|and best|and kind) )?regards|(?:best|all the best|sincerely"
        r"|greetings|cheers)(?= ?(?:\||$))"
    ),
    (
        r"(?:and )?have a (?:nice|great|good|lovely|wonderful) (?:day|weekend|one|evening|week"
        r"|rest of (?:the|your) (?:day|week))(?: (?:all|everyone|team))?"
    ),
    r"happy (?:friday|weekend|coding|holidays)",
    *("bye", "take care", "see you", "see ya", "good night", "enjoy (?:your|the) weekend"),
)
_GREETING = (
    r"(?:hi|hello|hey|dear)(?: (?:there|all|team|everyone|guys|folks))?",
    r"good (?:morning|afternoon|evening)(?: (?:all|team|everyone))?",
    "everyone",
)

_PHRASES = (
    (
        r"(?:(?:many|big|huge|again|ok|okay) )?thank(?:s"
        rf"| you)(?: (?:{_THANKFUL}))*(?: for(?: (?:{_HELP}))+)?(?: (?:{_ALL_OF_YOU}))*"
    ),
    rf"{_WE_HAVE}{_DEED}(?: and {_DEED})*{_OBJECT}{_HERE}{_LATELY}",
    rf"(?:{_LOOK} )?{_VERY}(?:{_FINE})(?: (?:work|job|one|stuff|fix|everyone|all|team|as always))*{_HERE}",
    (
        rf"(?:{_LOOK}|it is) {_VERY}(?:quick|fast|fine|well|green|all|it|working|(?:what )?(?:i"
        r"|we) (?:wanted|needed|asked for))"
        rf"{_HERE}{_WELL}"
    ),
    (
        rf"(?:looks|everything (?:is|looks)|{_THEY} (?:are|look)|the (?:result|output) (?:is"
        rf"|looks)) {_VERY}(?:correct|right){_HERE}"
    ),
    rf"that was {_VERY}(?:quick|fast)",
    rf"(?:that|this) was {_VERY}(?:helpful|exactly what (?:i|we) (?:wanted|needed))",
    rf"(?:{_IT} )?(?:now )?(?:works?|runs|behaves){_HERE}{_WELL}{_HERE}",
    rf"(?:(?:it|this|that|everything|both|all|the (?:fix|changes?|patch)) )?worked{_HERE}(?: (?:{_AS_IT_SHOULD}))?",
    (
        r"(?:it|this|that) (?:did it|d(?:id|oes) (?:the (?:job|trick)|exactly what (?:i|we) (?:wanted"
        r"|needed|asked for))|help(?:s|ed))(?: a lot)?"
    ),
    rf"(?:{_IT} )?(?:totally |completely |really )?(?:fixe[sd]|solve[sd]) (?:it|{_TROUBLE}){_HERE}",
    rf"{_TROUBLE} (?:(?:is|are|has been|have been) )?(?:now )?(?:gone|fixed|solved|resolved|sorted){_HERE}",
    (
        r"(?:all )?(?:the |our )?(?:(?:unit|regression|integration) )?(?:tests|checks) (?:pass|passed"
        rf"|are (?:green|passing|all green|all passing)){_HERE}"
    ),
    rf"(?:the )?(?:ci|build|pipeline) (?:is (?:all )?(?:green|passing)|passes|passed){_HERE}",
    (
        r"(?:qa|review) (?:passed|approved|sign off given|signed off)|(?:approved|signed off)(?: (?:by"
        r"|from) (?:qa|me|us))?"
    ),
    (
        rf"(?:i am|im|we are|were) {_VERY}(?:happy|pleased|satisfied|good|set"
        rf"|impressed)(?: with (?:this|it|the (?:result|fix|outcome|change)))?{_HERE}"
    ),
    r"(?:we |i )?(?:really )?love (?:it|this)",
    rf"(?:i will|ill|will) (?:merge|close){_OBJECT}",
    (
        rf"(?:(?:i am|im|we are|were) )?(?:merg|clos|resolv)ing{_OBJECT}(?: as (?:done|fixed|resolved"
        r"|complete|completed|solved))?"
    ),
    r"mark(?:ed|ing)(?: (?:this|it|the|issue|ticket|task))* (?:as )?(?:fixed|resolved|completed|solved|closed)",
    (
        rf"{_WE_HAVE}(?:test|verifi|confirm|check|review|retest)ed(?: and (?:verifi|confirm|merg|approv)ed)?"
        rf"(?:(?: and)? working{_HERE}{_WELL}|(?: (?:it|this|the|fix|fixes|pr"
        rf"|mr))*{_HERE}(?: (?:{_WITH_US}|{_SOMEWHERE}))?)"
    ),
    r"(?:you can|you may|feel free to|please|lets|we can|can) close(?: (?:this|it|the|issue|ticket|now|out|one))+",
    r"(?:this|it) can be closed(?: now)?",
    (
        r"no (?:(?:more|further|other) )?(?:problems?|issues?|questions|comments|complaints|objections|remarks)"
        rf"(?: (?:here|from me|from my side|from our side|on my (?:end|side)|at all))?{_END}"
    ),
    rf"nothing (?:else|more|further)(?: (?:from (?:me|my side|our side)|to add|needed))?{_END}",
    rf"no need{_END}",
    r"(?:that is|thats) (?:everything|all|exactly what) (?:i|we) (?:needed|wanted)",
    rf"(?:that is|thats) (?:all|it)(?: (?:from (?:me|us)|for now))?{_END}",
    r"(?:that (?:will|would)|thatll|thatd) be (?:all|it)",
    r"(?:i|we) can confirm(?: that)?(?= (?:it|its|this|everything|the fix|all))",
    r"(?:yes|yep|yeah)(?= \| (?:[a-z]+ ){0,3}(?:done|complete)\b)",
    r"(?:youre|you are) (?:the best|awesome|amazing|great|a (?:star|legend|lifesaver|hero))",
    r"(?:very |really |greatly )?(?:much )?appreciated",
    (
        r"(?:i |we )?(?:really |very much )?appreciate (?:it|this|that|(?:all )?(?:the"
        r"|your) (?:(?:quick|fast|prompt|great) )?"
        r"(?:help|work|effort|fix|turnaround|response|support))"
    ),
    r"you rock|you (?:saved|made) my day|(?:you )?nailed it|case closed|problem solved|mission accomplished",
    r"(?:exactly|just) what (?:i|we) (?:wanted|needed|asked for|was after|were after)",
    *(
        *("got it", "understood", "noted", "acked?", "acknowledged", "roger", "makes sense", "lgtm", "sgtm", "all set"),
        *("working now", "okay", "alright", "finished", "thx", "ty(?: so much)?", "tysm", "ta", "many", "cheers"),
        *("much obliged", "kudos", "wow", "yay", "woohoo", "hooray", "sweet", "bravo", "hurray", "props", "respect"),
        *(
            "works for (?:me|us)",
            "works a treat",
            "(?:i )?got it working",
            "ticket closed",
            "wfm",
            "and",
            "great stuff",
            "10/10",
            "thumbs up",
            "a1",
        ),
    ),
    *_GREETING,
    *_LEAVE,
)

ENGLISH = "|".join(_PHRASES)
BEFORE_KEYWORD = (
    rf"(?:(?:{_LOOK}|(?:the )?(?:task|job|work|review)(?: is)?|well|nicely|already"
    r"|(?:i think )?(?:we are|were|i am|im)|mark(?:ed|ing)(?: (?:this|it))? (?:as )?) )?"
)
LOOKS = _LOOK
AFTER_KEYWORD = r"(?: (?:here|for me|from me|with me|to me|and dusted))*"
