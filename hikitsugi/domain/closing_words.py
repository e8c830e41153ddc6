"""The words of a comment that closes a conversation: phrases that say that all is well, as patterns."""

_IT = r"(?:it|this|that|everything|both|all|the (?:fix|changes?|patch|result|pr|mr|code|feature|new version))"
_LOOK = rf"(?:{_IT}(?: is|s| looks| seems)|looks|all)"
_VERY = r"(?:all |very |really |super |pretty |so )?"
_OBJECT = (
    r"(?: (?:#?[0-9]+|in|into main|this(?! (?:morning|afternoon|evening))|it|the|issue|ticket|pr|mr|pull request"
    r"|merge request|branch|fix|change|now|out))*"
)
_HERE = r"(?: (?:now|here|again|well|great|fine|perfectly|nicely|flawlessly|correctly|(?:for|from|to) (?:me|us)))*"
_LATELY = r"(?: (?:today|yesterday|just now|this (?:morning|afternoon|evening)))?"
"""Fits only deeds that stay done: what worked yesterday may be broken today."""

_AS_IT_SHOULD = r"as (?:expected|intended|it should|it is|they are)|like a charm"
_WITH_US = r"on (?:my|our) (?:machine|side|end)|in (?:prod|production)"
_SOMEWHERE = r"locally|(?:in|on) (?:staging|(?:macos|mac|linux|windows)(?: and (?:macos|mac|linux|windows))?)"
"""Fits only tests: what works on Linux may be broken elsewhere."""

_WELL = rf"(?: (?:{_AS_IT_SHOULD}|{_WITH_US}))?"
_WE_HAVE = r"(?:(?:i|we|ive|weve|i have|we have) )?(?:just )?"
_TROUBLE = r"(?:(?:the|this|my|that) )?(?:issue|problem|bug|error|crash|warning|failure)s?"
_END = r"(?= ?(?:\||$))"
"""A clause ends here; "nothing else" means the contrary where "works" follows."""

_HELP = (
    r"all|the|your|you|this|that|it|everything|and|on|with|here|quick|fast|prompt|speedy|swift|great|good"
    r"|nice|hard|kind|super|very|detailed|clear|thorough|excellent|amazing|awesome|wonderful|fix|fixes"
    r"|help|work|job|updates?|changes?|patch|pr|mr|explanation|clarification|response|reply|answer|support"
    r"|assistance|info|information|details|summary|review|feedback|solution|issue|implementation"
    r"|contribution|efforts?|heads up|time|patience|turnaround|ticket|fixing|updating|helping|handling"
    r"|explaining|clarifying|implementing|solving|resolving|doing|looking into|taking care of"
)
_FINE = (
    r"great|perfect|nice|awesome|excellent|fantastic|wonderful|cool|amazing|brilliant|super|neat|outstanding|terrific|beautiful|superb|lovely|good|green"
    r"|helpful|fixed|solved|resolved|merged|exactly (?:what|as) (?:i|we) (?:wanted|needed|expected)"
)
_THANKFUL = (
    r"(?:so|very|ever so) much|a (?:lot|million|bunch|ton)|again|all|everyone|guys|folks|team|sir|mate|man"
    r"|bot|indeed|kindly|heaps|loads"
)
_ENGLISH = (
    rf"thank(?:s| you)(?: (?:{_THANKFUL}))*(?: for(?: (?:{_HELP}))+)?",
    rf"{_WE_HAVE}(?:merg|clos)ed{_OBJECT}{_HERE}{_LATELY}",
    rf"(?:{_LOOK} )?{_VERY}(?:{_FINE})(?: (?:work|job|one|stuff|fix|everyone|all|team))*{_HERE}",
    (
        rf"(?:{_LOOK}|it is) {_VERY}(?:quick|fast|fine|correct|all|it|working|(?:what )?(?:i|we) (?:wanted|needed))"
        rf"{_HERE}{_WELL}"
    ),
    rf"that was {_VERY}(?:quick|fast)",
    rf"(?:that|this) was {_VERY}(?:helpful|exactly what (?:i|we) (?:wanted|needed))",
    rf"(?:{_IT} )?(?:now )?(?:works?|runs){_HERE}{_WELL}",
    rf"(?:(?:it|this|that|everything|both|all|the (?:fix|changes?|patch)) )?worked{_HERE}(?: (?:{_AS_IT_SHOULD}))?",
    r"(?:it|this|that) (?:did it|d(?:id|oes) the (?:job|trick)|help(?:s|ed))(?: a lot)?",
    r"(?:it|this|that) (?:fixe[sd]|solve[sd]) (?:it|(?:my|our|the) (?:problem|issue))",
    rf"{_TROUBLE} (?:(?:is|are|has been|have been) )?(?:gone|fixed|solved|resolved){_HERE}",
    rf"(?:all )?(?:the )?tests (?:pass|passed|are (?:green|passing)){_HERE}",
    rf"ci (?:is green|passes|passed){_HERE}",
    rf"(?:i am|im|we are|were) {_VERY}(?:happy|pleased|satisfied|good|set)(?: with (?:this|it|the result))?{_HERE}",
    rf"(?:i will|ill|will) (?:merge|close){_OBJECT}",
    rf"(?:im )?(?:merg|clos)ing{_OBJECT}(?: as (?:done|fixed|resolved|complete|completed|solved))?",
    (
        rf"{_WE_HAVE}(?:test|verifi|confirm|check|review)ed(?: working{_HERE}{_WELL}"
        rf"|(?: (?:it|this|the|fix|fixes|pr|mr))*{_HERE}(?: (?:{_WITH_US}|{_SOMEWHERE}))?)"
    ),
    r"(?:you can|you may|feel free to|please|lets|we can) close(?: (?:this|it|the|issue|ticket|now|out))+",
    r"(?:this|it) can be closed(?: now)?",
    (
        r"no (?:(?:more|further|other) )?(?:problems?|issues?|questions|comments|complaints|objections|remarks)"
        rf"(?: (?:here|from me|at all))?{_END}"
    ),
    rf"nothing (?:else|more|further)(?: (?:from (?:me|my side|our side)|to add|needed))?{_END}",
    rf"no need{_END}",
    r"(?:that is|thats) everything (?:i|we) (?:needed|wanted)",
    r"(?:that (?:will|would)|thatll|thatd) be (?:all|it)",
    *(
        "got it",
        "understood",
        "noted",
        "makes sense",
        "lgtm",
        "all set",
        "working now",
        "okay",
        "alright",
        "case closed",
    ),
    *(
        "hi",
        "hello",
        "hey",
        "everyone",
        "finished",
        "thx",
        "ty",
        "ta",
        "many",
        "cheers",
        "much obliged",
        "kudos",
        "wow",
        "yay",
        "hooray",
        "sweet",
        "bravo",
        "and",
    ),
    r"(?:best|kind) regards",
    r"have a (?:nice|great|good|lovely) (?:day|weekend|one)",
    r"you rock|you (?:saved|made) my day",
    r"(?:i|we) can confirm(?: that)?(?= (?:it|its|this|everything|the fix))",
    *("bye", "take care", "see you", "good night"),
    r"(?:yes|yep|yeah)(?= \| (?:[a-z]+ ){0,3}(?:done|complete)\b)",
    r"(?:youre|you are) (?:the best|awesome|amazing|great)",
    r"(?:very |really )?(?:much )?appreciated",
    r"(?:i |we )?(?:really )?appreciate (?:it|(?:all )?(?:the|your) (?:help|work|effort))",
)

_KINDNESS_WORDS = (
    r"どうも|本当に|ほんとに?|まじで|めっちゃ|めちゃくちゃ|とても|大変|すごく|誠に|いつも|色々と?|いろいろと?|早速の?|さっそくの?|迅速な|早急な|素早い|早い"
    r"|丁寧[なに]|詳しい|詳細な|わかりやすい|分かりやすい|素敵な|素晴らしい|すばらしい|お忙しい中|夜遅くまで|最後まで"
    r"|何度も|すぐに|短時間で|本日は|今回は|この度は|ご[一-龥]{2,4}|ご|お|対応|修正|確認|回答|返信|連絡"
    r"|説明|提案|作業|追加|実装|調査|更新|共有|作成|協力|手伝い|助言|報告|改善|解決|サポート|レビュー"
    r"|直して|教えて|手伝って|いただき|頂き|して|くださり|下さり|くださって|くれて|まで|[をにのと]"
)
_KINDNESS = rf"(?:{_KINDNESS_WORDS})*+"
_AS_WISHED = (
    r"(?:期待|想定|希望|予定|仕様|要件|思い|思った|思っていた|イメージ)(?:していた)?(?:通り|どおり|とおり)"
    r"(?:の(?:動作|結果|内容|動き|挙動|出来|仕上がり))?(?:になりました|になっています)?"
)
_ELSEWHERE = r"(?:(?:ローカル|検証|開発|ステージング)(?:の?環境)?)"
_WHERE = rf"(?:(?:本番|手元|こちら|当方)(?:の?環境)?(?:でも?+|も)|{_ELSEWHERE}で?+も)"
_REQUEST = r"(?:(?:pr|mr|プルリク(?:エスト)?|マージリクエスト) ?)"
_FAULT = r"(?:バグ|不具合|エラー|問題|現象|警告|症状)"
_PROPERLY = (
    *(
        "無事に?",
        "問題なく",
        "完璧に",
        "ちゃんと",
        "正しく",
        "正常に",
        "うまく",
        "きちんと",
        "きれいに",
        "綺麗に",
        "快適に",
    ),
    *(
        rf"{_AS_WISHED}に?",
        "すべて",
        "全て",
        "全部",
        "テスト",
        _WHERE,
        "おかげさまで",
        "おかげで",
        "これで",
        "ci",
        "[がも]",
    ),
)
_SUCCEEDED = (
    r"動(?:きました|いています|いてます|いております)|動作し(?:ました|ています|てます)|通りました"
    r"|いきました|直(?:りました|っています|ってます|っていました)|できました"
    r"|解[決消](?:しました|されました|です)|使えて(?:います|ます)|進められます|(?:直っ|治っ|動い|通っ|いけ|でき|解決し)た(?:よ(?!ね)|わ)?|パスしました|成功しました|反映されました"
)
_CONTENT = (
    *(
        _AS_WISHED,
        "完璧",
        "ばっちり",
        "バッチリ",
        "最高",
        "十分",
        "問題な(?:し|い|さそう|かった)",
        "問題(?:あり|ござい)ません",
    ),
    *(
        "大丈夫",
        "[良よ]さそう",
        "良い感じ",
        "いい感じ",
        "良い",
        "いい(?=ですね)",
        "素晴らしい",
        "すばらしい",
        "すごい",
        "さすが",
    ),
    *(
        "お見事",
        "文句なし",
        "期待以上",
        "想像以上",
        "ナイス",
        "満足",
        "嬉しい",
        "うれしい",
        "早い",
        "はやい",
        "(?:以上|終わり|終了)(?=です)",
    ),
)
_GO_AHEAD = r"(?:ください|大丈夫です|いただいて大丈夫です|もらって大丈夫です)"
_JAPANESE = (
    (
        rf"{_KINDNESS}(?:(?:(?<=対応)|(?<=修正)|(?<=説明)|(?<=回答)|(?<=返信)|(?<=いただき)|(?<=頂き)|(?<=さり)"
        r"|(?<=下さり)|(?<=さって)|(?<=くれて))[ |]+(?:誠に|本当に|大変|どうも)?)?"
        r"(?<!して)(?<!えて)(?<!伝って)ありがとう(?:ございます|ございました|です)?(?:ね|っ)?"
    ),
    rf"{_KINDNESS}感謝(?:です|します|いたします|申し上げます|しています|しております)",
    (
        r"(?:(?:ご?対応|仕事|修正|返信|作業|レスポンス)[がもは])?(?:(?:とても|大変)?(?:早|速)くて|迅速で|丁寧で)?"
        r"(?:とても|大変|たいへん|本当に|すごく|めっちゃ|めちゃくちゃ)?助か(?:りました|ります|った)"
    ),
    r"お(?:疲れ|つかれ)(?:様|さま)(?:でした|です)?",
    *(
        "ご苦労様でした",
        "お世話に(?:なりました|なって(?:い|お)ります)",
        "お手数を?お(?:か|掛)けしました",
        "どうも",
        "(?:勉強|参考)になりました",
    ),
    r"(?:まさに)?(?:欲しかった|ほしかった|求めていた|必要だった)もの(?:です|でした)",
    rf"(?:おお|おー|皆さん|みなさん|わあ|やった|よし|笑){_END}",
    *("(?:良|よ)かったです", "安心しました", "(?:とても|大変)?満足しています"),
    r"(?:要件|仕様|条件)を満たしています",
    r"(?:今後とも|また(?:何かあれば|何かありましたら|機会があれば|次回も?)?)よろしくお願い(?:します|いたします|致します)",
    (
        rf"(?:無事に?|{_WHERE}|{_ELSEWHERE}で)*(?:(?:{_FAULT}が|正しく|正常に|きちんと)*"
        r"(?:直って|修正されて|解消されて|解決して|反映されて|動いて|動作して)いること[をも]"
        rf"|(?:作業|完了|修正|動作|内容|結果|変更|挙動|差分|実装|対応|問題ないこと|{_REQUEST})[をもの]?)*"
        r"確認(?:しました|できました|いたしました|致しました|済みです|済み|が?取れました)"
    ),
    rf"{_FAULT}[がはも]?(?:(?:(?:出|起き|発生し|再現し)なくなり|なくなり|消え|直り)ました|解[消決](?:されました|しました|です))",
    rf"(?:{'|'.join(_PROPERLY)})*(?:{_SUCCEEDED})ね?",
    (
        rf"(?:これで|こちらで|この内容で|もう|とても|大変|本当に|すごく|特に|全く)*(?:{'|'.join(_CONTENT)})"
        r"(?:ですね|です(?:ので)?|でした|なので|ので)?"
    ),
    r"以上(?:と|に)なります",
    r"(?:とても|大変|すごく)?(?:[良よ]く|見やすく|使いやすく|わかりやすく|分かりやすく|読みやすく)なりました",
    r"(?:はい|ええ)(?=(?: \| )?(?:これで|以上で)?完了)",
    (
        r"(?:(?:他に|ほかに|特に|追加の?|これ以上の?|もう)[はもが]?)*"
        r"(?:(?:ご?要望|ご?質問|修正依頼|修正点|指摘(?:事項)?|依頼|コメント)[はもが]?(?:特に)?|特に)(?:あり|ござい)ません"
    ),
    r"よく(?=わか|分か|理解)",
    r"(?:わかり|分かり|理解し|理解でき|納得し|納得でき|かしこまり)ました",
    *("なるほど(?:です)?", "そうなんですね", "(?:オーケー|オッケー)(?:です)?", r"(?<=[a-z])です|(?<=[a-z] )です"),
    (
        rf"(?:無事に?)?(?:{_REQUEST}(?:#[0-9]+ ?)?)?[はをも]?"
        r"(?:レビュー|テスト|検証|マージ|デプロイ|リリース|反映|適用)[をもが]?"
        r"(?:しました|できました|済みです|しておきました|(?<=マージ)しておきます)"
    ),
    (
        r"(?:(?:本件|この件|この ?issue ?|こちら)[はで]?|これで)?(?:"
        r"(?:マージ|クローズ)(?:します|いたします|させていただきます|しました|いたしました)"
        rf"|クローズ(?:で(?:大丈夫です|お願いします|問題ありません)|して{_GO_AHEAD})|閉じ(?:ます|ました|て{_GO_AHEAD}))"
    ),
)

ENGLISH = "|".join(_ENGLISH)
JAPANESE = "|".join(_JAPANESE)
BEFORE_KEYWORD = (
    rf"(?:(?:{_LOOK}|(?:the )?(?:task|job|work|review)(?: is)?|well|nicely|already"
    r"|(?:i think )?(?:we are|were|i am|im)) )?"
    r"(?:(?:これ|こちら|以上|本件|この件|今回|作業|対応|修正|確認|動作|レビュー|マージ|デプロイ|リリース|すべて|全て|全部)+"
    r"(?:は|も|にて|で)? ?)?"
)
AFTER_KEYWORD = (
    r"(?:です|でした|っす|ですね|しました|いたしました|致しました|とします|といたします|とさせていただきます|にします|ございます|ございました"
    r"|(?<=完了)(?:で(?= ?(?:\||$))|(?:で|して)ok(?:です)?"
    r"|で(?:大丈夫です|問題ありません|お願い(?:します|いたします|致します))"
    r"|(?:と|に)してください|(?:と|に)していただいて大丈夫です))?(?: (?:here|for me|from me|with me|to me))*"
)
